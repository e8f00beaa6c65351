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

    from ci_action.core.config.entries import Limit
    from ci_action.core.verdict import Row, TargetVerdict, Verdict

_WORSE = frozenset({"over", "warn", "accepted"})
_RULER_WIDTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """An interval on one axis with zero in its middle and the limit, as x positions of a 64 by 16 drawing."""

    limit: int | None
    low: int
    high: int
    point: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One metric of one target: head's number and the change under it. ``exact`` is empty where nothing is known."""

    number: str
    exact: str
    change: str
    direction: str
    ruler: Ruler | None = None


@dataclass(frozen=True, slots=True)
class Links:
    """The names of a target's own pages: its model, where a side has a report, and its benchmark."""

    model: str | None = None
    benchmark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One target and where to read on."""

    id: str
    title: str
    state: State
    cells: tuple[Cell, ...]
    links: Links
    note: str

    @property
    def key(self) -> str:
        """The state as a word for ids and filters."""
        return self.state.name.lower().replace("_", "-")


def index_columns(verdict: Verdict) -> list[str]:
    """Give the metrics that the table has a column for: the headline ones, and what was timed."""
    present = {row.metric for target in verdict.targets for row in target.rows}
    return [metric for metric in METRICS if metric in present and metric in {*HEADLINE_METRICS, *BENCHMARK_METRICS}]


def index_rows(verdict: Verdict, columns: Sequence[str], links: Mapping[str, Links]) -> list[IndexRow]:
    """List the targets: gravest state first, then the largest change, then the name."""
    found = [
        (state_of(target).rank, -_largest(target), target.id, _row(target, columns, links.get(target.id, Links())))
        for target in verdict.targets
    ]
    return [row for *_, row in sorted(found, key=lambda item: item[:3])]


def limits_in_words(limits: Sequence[Limit]) -> list[tuple[str, str, str, str]]:
    """List the limits in force: targets, metric, threshold, and what exceeding it does."""
    return [
        (", ".join(name(pattern) for pattern in limit.targets), label(limit.metric), limit.text, limit.on_exceed)
        for limit in limits
    ]


def _row(target: TargetVerdict, columns: Sequence[str], links: Links) -> IndexRow:
    rows = {row.metric: row for row in target.rows}
    note = target.skipped or target.unproven
    if target.failures:
        note = "; ".join(f"{item.side} failed: {name(item.failure['type'])}" for item in target.failures)
    return IndexRow(
        id=target.id,
        title=name(target.id),
        state=state_of(target),
        cells=tuple(_cell(rows.get(metric)) for metric in columns),
        links=links,
        note=note,
    )


def _cell(row: Row | None) -> Cell:
    if row is None:
        return Cell(number=units.NONE, exact="", change="", direction="")
    word = result_word(row)
    value = known(row.head)
    return Cell(
        number=sides(row)[1],
        exact="" if value is None or row.head is None else units.exact(value, row.head["unit"]),
        change="" if word == "equal" and row.interval is None else change(row),
        direction="worse" if word in _WORSE else "better" if word == "better" else "",
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

    def place(share: float) -> int:
        return round(_RULER_WIDTH / 2 * (1 + share / reach))

    return Ruler(
        limit=None if limit is None else place(limit),
        low=place(interval.low),
        high=place(interval.high),
        point=place(interval.estimate),
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
