"""What a target ended with, in one word, and the table that gives each word its glyph.

The order of ``State`` is the headline's precedence. Glyphs differ in shape, and the word always follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from ci_action.core.comparing import known
from ci_action.core.metrics import BENCHMARK_METRICS, HEADLINE_METRICS
from ci_action.core.verdict import Gate, Row, TargetVerdict, Word

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Look:
    """Glyph and words of a state: as a headline begins, and as other targets are counted after it.

    ``glyph`` is what GitHub draws; ``mark`` is its like in signs that every system font has, for pages.
    """

    glyph: str
    mark: str
    headline: str
    counted: str


class State(Enum):
    """How one target ended. The first that applies counts."""

    REGRESSION = Look("❌", "✖", "Regression", "over a limit")
    NOT_MEASURED = Look("🚫", "⊘", "Not measured", "not measured")
    ACCEPTED = Look("☑️", "✔", "Accepted", "accepted")
    WARNING = Look("⚠️", "!", "Over a warn limit", "over a warn limit")
    DROPPED = Look("⚠️", "!", "Removed with its limits", "removed with limits")
    LOST = Look("⚠️", "≥", "Evidence lost", "lost evidence")
    INCOMPARABLE = Look("⚠️", "≠", "Incomparable", "incomparable")
    INCONCLUSIVE = Look("❔", "?", "Inconclusive", "inconclusive")
    IMPROVEMENT = Look("✨", "★", "Improvement", "improved")
    CHANGED = Look("•", "•", "Changed", "changed")
    WITHIN = Look("✅", "✔", "Within limits", "changed within limits")
    EQUAL = Look("✅", "=", "No change", "no change")
    NEW = Look("🏁", "+", "First measurement", "new")
    REMOVED = Look("➖", "−", "Removed", "removed")
    SKIPPED = Look("⏭️", "»", "Skipped", "skipped")

    @property
    def rank(self) -> int:
        """Place in the precedence, 0 first."""
        return _RANKS[self]


_PRIMARY = frozenset({*HEADLINE_METRICS, *BENCHMARK_METRICS})
_RANKS: Mapping[State, int] = MappingProxyType({state: rank for rank, state in enumerate(State)})

RESULTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "over": ("❌", "✖"),
        "failed": ("🚫", "⊘"),
        "accepted": ("☑️", "✔"),
        "warn": ("⚠️", "!"),
        "lost": ("⚠️", "≥"),
        "incomparable": ("⚠️", "≠"),
        "unmeasured": ("🚫", "⊘"),
        "unclear": ("❔", "?"),
        "better": ("✨", "★"),
        "changed": ("•", "•"),
        "new": ("🆕", "+"),
        "removed": ("➖", "−"),
        "equal": ("✅", "="),
    }
)
"""A row's result in one word, in the order in which rows are listed, with its glyph and its mark."""

_BY_WORD: Mapping[Word, str] = MappingProxyType(
    {
        Word.REGRESSED: "changed",
        Word.EVIDENCE_LOST: "lost",
        Word.NOT_COMPARABLE: "incomparable",
        Word.NOT_MEASURED: "unmeasured",
        Word.INCONCLUSIVE: "unclear",
        Word.IMPROVED: "better",
        Word.CHANGED: "changed",
        Word.NEW: "new",
        Word.REMOVED: "removed",
        Word.WITHIN_NOISE: "equal",
        Word.UNCHANGED: "equal",
    }
)


def result_word(row: Row) -> str:
    """Say a row's result in one word."""
    if row.accepted:
        return "accepted"
    if row.word is Word.REMOVED:
        return "removed"
    if row.gate is Gate.FAIL:
        return "over"
    if row.gate is Gate.WARN and row.word is Word.REGRESSED:
        return "warn"
    if row.word is Word.NOT_MEASURED and known(row.head) is not None:  # it is base that has no number
        return "unclear"
    return _BY_WORD[row.word]


def telling_rows(target: TargetVerdict) -> list[Row]:
    """Give the rows that speak for a target: gated ones and headline metrics, else whatever differs.

    One changed layer moves parameters, their bytes and every count with them; a table that repeats it hides the rest.
    """
    primary = [row for row in target.rows if row.gate is not Gate.NONE or row.metric in _PRIMARY]
    if any(result_word(row) != "equal" for row in primary):
        return primary
    return [*primary, *(row for row in target.rows if row not in primary)]


def state_of(target: TargetVerdict) -> State:
    """Say how a target ended."""
    if target.skipped:
        return State.SKIPPED
    states = [row_state(row) for row in telling_rows(target)]
    if target.failure("head") or target.unproven:
        states.append(State.NOT_MEASURED)
    elif target.failure("base"):
        states.append(State.INCOMPARABLE)
    return min(states, key=lambda state: state.rank, default=State.NOT_MEASURED)


def row_state(row: Row) -> State:
    """Say what a row makes of its target, where it is the gravest one."""
    if row.gate is Gate.FAIL:
        return State.NOT_MEASURED if row.word is Word.REMOVED else State.REGRESSION
    if row.gate is Gate.WARN and row.word is Word.REMOVED:  # to rename a target is a way out of its limits
        return State.DROPPED
    if row.accepted:
        return State.ACCEPTED
    if row.word is Word.NOT_MEASURED and known(row.head) is not None:  # it is base that has no number
        return State.INCOMPARABLE if row.gate is not Gate.NONE else State.EQUAL
    if row.word is Word.REGRESSED:
        return State.WARNING if row.gate is Gate.WARN else State.CHANGED
    if row.word is Word.CHANGED:
        return State.WITHIN if row.gate is Gate.PASS else State.CHANGED
    return _STATES[row.word][0 if row.gate is not Gate.NONE else 1]


# What is known of a gated row, and of one that no limit covers: missing evidence nobody asked for is no headline.
_STATES: Mapping[Word, tuple[State, State]] = MappingProxyType(
    {
        Word.EVIDENCE_LOST: (State.LOST, State.CHANGED),
        Word.NOT_COMPARABLE: (State.INCOMPARABLE, State.CHANGED),
        Word.NOT_MEASURED: (State.NOT_MEASURED, State.EQUAL),
        Word.INCONCLUSIVE: (State.INCONCLUSIVE, State.EQUAL),
        Word.IMPROVED: (State.IMPROVEMENT, State.IMPROVEMENT),
        Word.NEW: (State.NEW, State.NEW),
        Word.REMOVED: (State.REMOVED, State.REMOVED),
        Word.WITHIN_NOISE: (State.EQUAL, State.EQUAL),
        Word.UNCHANGED: (State.EQUAL, State.EQUAL),
    }
)
