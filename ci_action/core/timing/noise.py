"""What a shift with its interval may be called, and whether the machine may be believed at all."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, inf, log1p
from typing import TYPE_CHECKING

from ci_action.core.timing.wilcoxon import estimate_shift, two_sided_p
from ci_action.core.verdict import Interval, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.config.entries import Limit
    from ci_action.core.timing.wilcoxon import Shift

CONTROL_LEVEL = 0.01
"""How seldom a quiet machine may be called noisy."""

CONTROL_PAIRS = 8
"""The least with which the control can speak: 2^(1-8) = 0.0078 is under its level, 2^(1-7) = 0.0156 is not."""

MOST_CONTROL_PAIRS = 200
"""The exact test grows with the cube of the pairs, and evidence may come from an enemy."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit as a shift of ln(head/base). ``direction`` is +1 where more is worse, -1 where less is."""

    direction: int
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """Base against base: how far it seemed to move, and how odd that is."""

    pairs: int
    estimate: float
    p_value: float

    @property
    def is_noisy(self) -> bool:
        """Whether the machine moved the same code against itself."""
        return self.p_value < CONTROL_LEVEL


def control(log_ratios: Sequence[float]) -> Control | None:
    """Test all control pairs of a run at once; None where they are too few to tell."""
    if len(log_ratios) < CONTROL_PAIRS:
        return None
    log_ratios = log_ratios[:MOST_CONTROL_PAIRS]
    shift = estimate_shift(log_ratios, CONTROL_LEVEL)
    estimate = 0.0 if shift is None else expm1(shift.estimate)
    return Control(pairs=len(log_ratios), estimate=estimate, p_value=two_sided_p(log_ratios))


def interval(shift: Shift, pairs: int) -> Interval:
    """Give a shift of logarithms as a relative change: ratios minus one."""
    return Interval(
        estimate=expm1(shift.estimate),
        low=expm1(shift.low),
        high=expm1(shift.high),
        confidence=1 - shift.level,
        pairs=pairs,
    )


def bars(limit: Limit, base: float) -> tuple[Bar, ...]:
    """Give the shifts that a limit allows, for a base of that size.

    Both parts must be exceeded, so the larger of share and amount/base counts. A decrease by all of it has no
    logarithm, and nothing measured can exceed it.
    """
    found = []
    for direction, share, amount in (
        (1, limit.max_increase, limit.max_increase_by),
        (-1, limit.max_decrease, limit.max_decrease_by),
    ):
        if share is not None or amount is not None:
            size = max(share or 0.0, (amount or 0.0) / base)
            height = log1p(size) if direction > 0 else -log1p(-size) if size < 1 else inf
            found.append(Bar(direction, height))
    return tuple(found)


def plain_word(change: Interval) -> Word:
    """Name a change that no limit covers: it is one, or it cannot be told from none."""
    return Word.WITHIN_NOISE if change.low <= 0 <= change.high else Word.CHANGED


def word_under(limit: Limit, base: float, change: Interval) -> Word:
    """Name a change under a limit.

    Regressed only where the whole interval lies beyond it; inconclusive where the interval holds it; improved where
    the whole interval lies as far on the good side.
    """
    words = {_word_at(bar, change) for bar in bars(limit, base)}
    return next((word for word in _STRICTEST_FIRST if word in words), plain_word(change))


_STRICTEST_FIRST = (Word.REGRESSED, Word.INCONCLUSIVE, Word.IMPROVED)


def _word_at(bar: Bar, change: Interval) -> Word | None:
    low, high = sorted((bar.direction * log1p(change.low), bar.direction * log1p(change.high)))
    if low > bar.height:
        return Word.REGRESSED
    if high < -bar.height:
        return Word.IMPROVED
    return Word.INCONCLUSIVE if high > bar.height else None
