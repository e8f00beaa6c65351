"""Holm's step-down: which level each of k tests gets, so that all of them together err at most at ``alpha``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm_levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """Give each test's level, in the order of ``p_values``.

    The smallest p-value is tested at alpha/k, the next at alpha/(k-1), and so on until one is not rejected; that one
    and all after it keep the level at which the steps ended. An interval at its own test's level excludes the tested
    value exactly where Holm rejects, so the printed intervals and the verdicts cannot disagree.
    """
    remaining = len(p_values)
    levels = [alpha] * remaining
    stopped_at: float | None = None
    for index in sorted(range(len(p_values)), key=p_values.__getitem__):
        if stopped_at is None:
            level = alpha / remaining
            if p_values[index] > level:
                stopped_at = level
            remaining -= 1
            levels[index] = level
        else:
            levels[index] = stopped_at
    return levels
