"""A verdict's rows as words: what stands in each cell, before any medium's escaping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.comparing import is_complete, known
from ci_action.core.metrics import METRICS, label
from ci_action.core.verdict import Gate, Word
from ci_action.render.states import RESULTS, result_word, telling_rows
from torchscan.render import units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ci_action.core.verdict import Row, TargetVerdict

_NO_DELTA = {
    Word.NEW: "new",
    Word.REMOVED: "removed",
    Word.NOT_COMPARABLE: "n/a",
    Word.NOT_MEASURED: "not measured",
}
_ORDER = {word: place for place, word in enumerate(RESULTS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """One line of the table. ``target`` is as the repository has it; the rest are our own words and numbers."""

    result: str
    target: str
    metric: str
    base: str
    head: str
    change: str
    limit: str
    reason: str

    @property
    def glyph(self) -> str:
        """The sign before the result's word on GitHub; never alone."""
        return RESULTS[self.result][0]

    @property
    def mark(self) -> str:
        """The same in signs that every system font has."""
        return RESULTS[self.result][1]


def row_view(row: Row) -> RowView:
    """Write one row."""
    base, head = sides(row)
    return RowView(
        result=result_word(row),
        target=row.target,
        metric=label(row.metric),
        base=base,
        head=head,
        change=change(row),
        limit=limit(row),
        reason=row.reason,
    )


def differing_rows(targets: Iterable[TargetVerdict]) -> list[RowView]:
    """Give the rows that a reader must see, gravest first: nothing equal, nothing that only says "still unknown"."""
    found: list[tuple[int, float, int, Row]] = []
    for place, target in enumerate(targets):
        found += [(_ORDER[result_word(row)], -_size(row), place, row) for row in _shown(target)]
    found.sort(key=lambda item: item[:3])
    return [row_view(row) for *_, row in found]


def sides(row: Row) -> tuple[str, str]:
    """Write both sides so that unequal numbers never look alike. What was not measured is a dash, never 0."""
    if row.is_new or row.word is Word.REMOVED:
        left, right = units.metric_pair(row.base, row.head)
        return ("absent", right) if row.is_new else (left, "absent")
    if row.base is None or row.head is None:
        return units.metric(row.base), units.metric(row.head)
    return units.metric_pair(row.base, row.head)


def change(row: Row) -> str:
    """Write the change, where one was proven: ``+822 M (+10.1%)``, or an interval; else a word."""
    if row.interval is not None:
        return units.interval(row.interval.estimate, row.interval.low, row.interval.high)
    if row.word in _NO_DELTA or row.is_new:
        has_head = row.word is Word.NOT_MEASURED and known(row.head) is not None
        return "no base" if has_head else _NO_DELTA.get(row.word, "new")
    base, head = known(row.base), known(row.head)
    is_open = METRICS[row.metric].timing  # two medians without an interval over pairs compare nothing
    if (
        is_open
        or not (is_complete(row.base) and is_complete(row.head))
        or base is None
        or head is None
        or row.base is None
    ):
        return "unknown"
    if base == head:
        return "0"
    return f"{units.delta(base, head, row.base['unit'])} ({units.percent(base, head)})"


def short_change(row: Row) -> str:
    """Write the change in one number, for a headline."""
    if row.interval is not None:
        return units.relative(row.interval.estimate)
    base, head = known(row.base), known(row.head)
    if row.word in _NO_DELTA or not (is_complete(row.base) and is_complete(row.head)) or base is None or head is None:
        return ""
    if base == 0 and row.base is not None:
        return units.delta(base, head, row.base["unit"])
    return units.percent(base, head)


def limit(row: Row) -> str:
    """Write the limit in the owner's words; a cap in the unit of the number that it caps."""
    owner = row.limit
    if owner is None:
        return "none"
    parts = [part for part in owner.text.split(", ") if part and not part.startswith("max ") and not row.is_new]
    if owner.max is not None:
        side = row.head or row.base
        near = known(side)
        unit = side["unit"] if side else ""
        parts.append(f"max {units.cap(owner.max, unit, like=() if near is None else (near,))}")
    text = ", ".join(parts) or "none"
    return f"warn {text}" if owner.on_exceed == "warn" else text


def _shown(target: TargetVerdict) -> list[Row]:
    if target.skipped:
        return []
    rows = [row for row in telling_rows(target) if result_word(row) != "equal"]
    if target.failures:
        # What a failed side left open stands in the table of failures; head's own numbers stand here all the same.
        return [row for row in rows if row.word is not Word.NOT_MEASURED or known(row.head) is not None]
    judged = [row for row in rows if row.gate is not Gate.NONE]
    if rows and all(row.word is Word.REMOVED for row in rows):
        return (judged or [row for row in rows if row.base is not None] or rows)[:1]
    telling = {Word.CHANGED, Word.IMPROVED, Word.REGRESSED, Word.EVIDENCE_LOST, Word.NOT_COMPARABLE}
    return [row for row in rows if row in judged or row.word in telling]


def _size(row: Row) -> float:
    base, head = known(row.base), known(row.head)
    if base is None or head is None:
        return 0.0
    return abs(head - base) / abs(base) if base else float(head != base)
