"""What the index page shows of each target: its state, its headline numbers, its picture of an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.comparing import known
from ci_action.core.metrics import BENCHMARK_METRICS, HEADLINE_METRICS, METRICS, label
from ci_action.render.escape import name
from ci_action.render.rows import change, sides
from ci_action.render.states import State, result_word, state_of
from torchscan.render import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci_action.core.config import Limit
    from ci_action.core.verdict import Row, TargetVerdict, Verdict

_WORSE = frozenset({"over", "warn", "accepted"})
_RULER_WIDTH, _RULER_HEIGHT = 64, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """An interval on one axis with zero and the limit, as x positions of a 64 by 16 drawing."""

    zero: float
    limit: float | None
    low: float
    high: float
    point: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One metric of one target: head's number and the change beside it. ``sort`` is None where nothing is known."""

    metric: str
    number: str
    exact: str
    change: str
    direction: str
    sort: float | None
    ruler: Ruler | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One target. ``page`` is the name of its own page, or None where no side has a report."""

    id: str
    title: str
    state: State
    cells: tuple[Cell, ...]
    page: str | None
    note: str

    @property
    def key(self) -> str:
        """The state as a word for ids and filters."""
        return self.state.name.lower().replace("_", "-")


def index_columns(verdict: Verdict) -> list[str]:
    """Give the metrics that the table has a column for: the headline ones, and what was timed."""
    present = {row.metric for target in verdict.targets for row in target.rows}
    return [metric for metric in METRICS if metric in present and metric in {*HEADLINE_METRICS, *BENCHMARK_METRICS}]


def index_rows(verdict: Verdict, columns: Sequence[str], pages: Mapping[str, str]) -> list[IndexRow]:
    """List the targets: gravest state first, then the largest change, then the name."""
    found = [
        (state_of(target).rank, -_largest(target), target.id, _row(target, columns, pages.get(target.id)))
        for target in verdict.targets
    ]
    return [row for *_, row in sorted(found, key=lambda item: item[:3])]


def limits_in_words(limits: Sequence[Limit]) -> list[tuple[str, str, str, str]]:
    """List the limits in force: targets, metric, threshold, and what exceeding it does."""
    return [
        (", ".join(name(pattern) for pattern in limit.targets), label(limit.metric), limit.text, limit.on_exceed)
        for limit in limits
    ]


def _row(target: TargetVerdict, columns: Sequence[str], page: str | None) -> IndexRow:
    rows = {row.metric: row for row in target.rows}
    note = target.skipped
    if target.failures:
        note = "; ".join(f"{item.side} failed: {name(item.failure['type'])}" for item in target.failures)
    return IndexRow(
        id=target.id,
        title=name(target.id),
        state=state_of(target),
        cells=tuple(_cell(metric, rows.get(metric)) for metric in columns),
        page=page,
        note=note,
    )


def _cell(metric: str, row: Row | None) -> Cell:
    if row is None:
        return Cell(metric=label(metric), number=units.NONE, exact="", change="", direction="", sort=None)
    word = result_word(row)
    value = known(row.head)
    return Cell(
        metric=label(metric),
        number=sides(row)[1],
        exact="" if value is None or row.head is None else units.exact(value, row.head["unit"]),
        change="" if word == "equal" and row.interval is None else change(row),
        direction="worse" if word in _WORSE else "better" if word == "better" else "",
        sort=value,
        ruler=_ruler(row),
    )


def _ruler(row: Row) -> Ruler | None:
    interval = row.interval
    if interval is None:
        return None
    limit = None
    if row.limit is not None:
        limit = row.limit.max_increase if row.limit.max_increase is not None else _negated(row.limit.max_decrease)
    reach = 1.15 * max(abs(interval.low), abs(interval.high), abs(limit or 0), 0.01)

    def place(share: float) -> float:
        return round(_RULER_WIDTH / 2 * (1 + share / reach), 1)

    return Ruler(
        zero=place(0),
        limit=None if limit is None else place(limit),
        low=place(interval.low),
        high=place(interval.high),
        point=place(interval.estimate),
        words=f"{change(row)}, {interval.confidence:.0%} interval over {interval.pairs} pairs",
    )


def _negated(share: float | None) -> float | None:
    return None if share is None else -share


def _largest(target: TargetVerdict) -> float:
    shares = []
    for row in target.rows:
        base, head = known(row.base), known(row.head)
        if base and head is not None:
            shares.append(abs(head - base) / abs(base))
    return max(shares, default=0.0)
