"""A limit against two numbers, exactly: no rounding decides whether somebody's job is red."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci_action.core.config.entries import Limit
    from torchscan.report.metric import Number


def exact(number: Number) -> Fraction:
    """Return the decimal that the owner typed: 0.05 is 1/20, not the float next to it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def is_over_max(limit: Limit, head: Number) -> bool:
    """Check whether head is above the cap. True also of a lower bound: the whole is at least as much."""
    return limit.max is not None and exact(head) > exact(limit.max)


def is_relative(limit: Limit) -> bool:
    """Check whether the limit needs a base to be judged."""
    return any(part is not None for part in _increase(limit) + _decrease(limit))


def is_worse(limit: Limit, base: Number, head: Number) -> bool:
    """Check whether head moved past every relative and absolute part that the limit has, in its bad direction.

    From 0 any increase exceeds any percentage, and 0 to 0 exceeds none: both follow from change > share x base.
    """
    return _exceeds(_increase(limit), base, head) or _exceeds(_decrease(limit), head, base, reference=base)


def is_increase_over(limit: Limit, base: Number, head: Number) -> bool:
    """Check whether the increase alone exceeds the limit: all that a lower bound of head can prove."""
    return _exceeds(_increase(limit), base, head)


def is_better(limit: Limit, base: Number, head: Number) -> bool:
    """Check whether head moved as far in the good direction as the limit would refuse in the bad one."""
    return _exceeds(_increase(limit), head, base, reference=base) or _exceeds(_decrease(limit), base, head)


def _increase(limit: Limit) -> tuple[float | None, float | None]:
    return limit.max_increase, limit.max_increase_by


def _decrease(limit: Limit) -> tuple[float | None, float | None]:
    return limit.max_decrease, limit.max_decrease_by


def _exceeds(
    parts: tuple[float | None, float | None], low: Number, high: Number, *, reference: Number | None = None
) -> bool:
    share, amount = parts
    if share is None and amount is None:
        return False
    change = exact(high) - exact(low)
    size = abs(exact(low if reference is None else reference))
    return (share is None or change > exact(share) * size) and (amount is None or change > exact(amount))
