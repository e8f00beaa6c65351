"""The gate of one row under one limit. Every path to PASS, WARN and FAIL is in this file.

What it guarantees, whatever failed before or after (tests/unit/ci_action/core/test_every_state.py enumerates it):

- PASS means that head's value is complete and not above the cap, and for a relative limit that base's value is complete
  and comparable and the change is within the limit. A timing also needs its whole interval within the limit, enough
  pairs and a runner that passed its control.
- FAIL, or WARN by ``on-exceed``, means that the values prove an exceeded limit. A lower bound can prove an increase.
- Everything else follows one of the limit's policies, which give UNKNOWN, WARN or NONE and never PASS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from ci_action.core.comparing import is_complete, known
from ci_action.core.metrics import METRICS
from ci_action.core.thresholds import is_better, is_increase_over, is_over_max, is_relative, is_worse
from ci_action.core.timing.noise import word_under
from ci_action.core.verdict import Basis, Gate, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ci_action.core.config.entries import Limit
    from ci_action.core.verdict import Policy, Row

STRICTEST_LAST = (Gate.PASS, Gate.NONE, Gate.WARN, Gate.UNKNOWN, Gate.FAIL)
"""Of several answers about one row the last of these stays. NONE outranks PASS: a row passes only as a whole."""

INTERVAL = "the confidence interval includes the limit"
SCATTER = "the processes of both sides overlap"

_EXCEEDED: Mapping[str, Gate] = MappingProxyType({"fail": Gate.FAIL, "warn": Gate.WARN})
_UNDECIDED: Mapping[str, Gate] = MappingProxyType({"fail": Gate.UNKNOWN, "warn": Gate.WARN, "ignore": Gate.NONE})
"""What a policy makes of missing evidence. "fail" ends the job too, but nothing was proven: exit code 3, not 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A gate, what it rests on, and the row's word and reason under this limit."""

    gate: Gate
    basis: Basis
    word: Word
    reason: str = ""

    @property
    def rank(self) -> int:
        """Place in the order of strictness, 0 for the mildest."""
        return STRICTEST_LAST.index(self.gate)


class _Change(Enum):
    """Where the change of a row lies, as far as its values prove it."""

    OVER = "over"
    WITHIN = "within"
    OPEN = "open"


def decide(row: Row, limit: Limit) -> Decision:
    """Return what one limit makes of one row. Cap and relative part are judged apart; the stricter answer stays."""
    if row.is_removed:
        return Decision(gate=_EXCEEDED[limit.on_removed], basis=Basis.POLICY, word=row.word, reason=row.reason)
    parts = []
    if limit.max is not None:
        parts.append(_under_cap(row, limit))
    if is_relative(limit):
        parts.append(_under_change(row, limit))
    return max(parts, key=lambda part: part.rank)


def _under_cap(row: Row, limit: Limit) -> Decision:
    """Judge head's own value. A lower bound above the cap proves that the whole is above it."""
    head = known(row.head)
    doubt = row.shortfall if row.shortfall and row.shortfall.is_of_head else None
    if head is not None and is_over_max(limit, head) and (doubt is None or doubt.can_fail):
        return _exceeded(
            row, limit, "over the cap" if is_complete(row.head) else "the lower bound alone exceeds the cap"
        )
    if doubt is not None:
        return _undecided(row, limit, doubt.policy)
    if not is_complete(row.head):
        return _undecided(row, limit, "on_unknown")
    return Decision(gate=Gate.PASS, basis=Basis.EVIDENCE, word=row.word, reason=row.reason)


def _under_change(row: Row, limit: Limit) -> Decision:
    """Judge the change from base to head."""
    change = _change(row, limit) if not row.is_new else _Change.OPEN
    doubt = row.shortfall
    if change is _Change.OVER and (doubt is None or doubt.can_fail):
        whole = is_complete(row.head)
        return _exceeded(row, limit, "over the limit" if whole else "the lower bound alone exceeds the limit")
    if doubt is not None:
        return _undecided(row, limit, doubt.policy)
    if not is_complete(row.head):
        return _undecided(row, limit, "on_unknown")
    if row.is_new:  # nothing to compare with, by nobody's fault
        return Decision(gate=Gate.NONE, basis=Basis.POLICY, word=row.word, reason=row.reason)
    if not is_complete(row.base):
        return _undecided(row, limit, "on_missing_base")
    if change is _Change.OPEN:
        why = SCATTER if row.is_within_scatter else INTERVAL if row.interval else row.reason
        return replace(_undecided(row, limit, "on_inconclusive"), word=Word.INCONCLUSIVE, reason=why)
    return Decision(gate=Gate.PASS, basis=Basis.EVIDENCE, word=_word_within(row, limit), reason=row.reason)


def _change(row: Row, limit: Limit) -> _Change:
    """Return where the change lies. Only a complete base and a known head can prove anything."""
    base, head = known(row.base), known(row.head)
    if not is_complete(row.base) or base is None or head is None:
        return _Change.OPEN
    if METRICS[row.metric].timing:
        word = None if row.interval is None else word_under(limit, base, row.interval)
        if word is None or word is Word.INCONCLUSIVE:
            return _Change.OPEN
        return _Change.OVER if word is Word.REGRESSED else _Change.WITHIN
    if not is_complete(row.head):  # at least so much: an increase can be proven, anything else cannot
        return _Change.OVER if is_increase_over(limit, base, head) else _Change.OPEN
    if not is_worse(limit, base, head):
        return _Change.WITHIN
    return _Change.OPEN if row.is_within_scatter else _Change.OVER


def _word_within(row: Row, limit: Limit) -> Word:
    base, head = known(row.base), known(row.head)
    if METRICS[row.metric].timing and row.interval is not None and base is not None:
        return word_under(limit, base, row.interval)
    is_improved = row.word is Word.CHANGED and base is not None and head is not None and is_better(limit, base, head)
    return Word.IMPROVED if is_improved else row.word


def _exceeded(row: Row, limit: Limit, reason: str) -> Decision:
    return Decision(
        gate=_EXCEEDED[limit.on_exceed],
        basis=Basis.EVIDENCE,
        word=Word.REGRESSED if is_complete(row.head) else row.word,
        reason=row.reason if row.reason and is_complete(row.head) else reason,
    )


def _undecided(row: Row, limit: Limit, policy: Policy) -> Decision:
    wanted: str = getattr(limit, policy)
    return Decision(gate=_UNDECIDED[wanted], basis=Basis.POLICY, word=row.word, reason=row.reason)
