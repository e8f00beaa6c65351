"""Exact signed-rank statistics of a few paired differences, in plain Python.

The n(n+1)/2 Walsh averages (d_i + d_j)/2, i <= j, carry everything. Their median is the Hodges-Lehmann estimate. The
signed-rank statistic T of the differences minus theta is the number of Walsh averages above theta, so inverting the
test means cutting the sorted averages: the k lowest and k highest are dropped, where k is the largest count with
P(T <= k) <= alpha/2 under a symmetric null.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The centre of paired differences, with the interval of the inverted exact test."""

    estimate: float
    low: float
    high: float
    level: float
    """The two-sided error that the interval may have at most; its exact error is a little smaller."""

    def negated(self) -> Shift:
        """Give the same shift seen from the other side."""
        return Shift(estimate=-self.estimate, low=-self.high, high=-self.low, level=self.level)


def estimate_shift(differences: Sequence[float], level: float) -> Shift | None:
    """Give the Hodges-Lehmann estimate and its exact interval at ``1 - level``; None where n is too small for it."""
    dropped = _droppable(len(differences), level)
    if dropped is None:
        return None
    averages = walsh_averages(differences)
    return Shift(
        estimate=_median(averages),
        low=averages[dropped],
        high=averages[len(averages) - 1 - dropped],
        level=level,
    )


def two_sided_p(differences: Sequence[float], theta: float = 0.0) -> float:
    """Give the exact p-value of "the centre is theta" against either side."""
    averages = walsh_averages(differences)
    above = sum(average > theta for average in averages)
    below = sum(average < theta for average in averages)
    # An average equal to theta counts for neither side, which can only make p larger.
    return min(1.0, 2 * _tail(len(differences), len(averages) - max(above, below)))


def p_above(differences: Sequence[float], theta: float) -> float:
    """Give twice the one-sided p-value of "the centre is at most theta": at most alpha iff ``low`` exceeds theta."""
    averages = walsh_averages(differences)
    not_above = sum(average <= theta for average in averages)
    return min(1.0, 2 * _tail(len(differences), not_above))


def walsh_averages(differences: Sequence[float]) -> list[float]:
    """Give the sorted averages of all pairs of differences, each difference with itself included."""
    if not differences or not all(map(isfinite, differences)):
        raise ValueError("signed ranks need at least one difference, all of them finite")
    count = len(differences)
    return sorted((differences[i] + differences[j]) / 2 for i in range(count) for j in range(i, count))


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@cache
def _subsets_by_rank_sum(count: int) -> tuple[int, ...]:
    """Count the subsets of {1..n} by their sum: under the null every pattern of signs is equally likely.

    Each rank either stays out or adds itself: f_n(s) = f_(n-1)(s) + f_(n-1)(s - n). n=2 gives sums 0,1,2,3 once each.
    """
    counts = [1]
    for rank in range(1, count + 1):
        wider = counts + [0] * rank
        for total, ways in enumerate(counts):
            wider[total + rank] += ways
        counts = wider
    return tuple(counts)


def _tail(count: int, rank_sum: int) -> float:
    """P(T <= rank_sum) for n differences."""
    if rank_sum < 0:
        return 0.0
    return sum(_subsets_by_rank_sum(count)[: rank_sum + 1]) / float(2**count)


def _droppable(count: int, level: float) -> int | None:
    """Give how many averages may be cut at either end, or None where even an uncut interval misses the level.

    Cutting none leaves the interval between the extreme differences, whose error is 2 * P(T <= 0) = 2^(1-n).
    """
    if count < 1 or 2 * _tail(count, 0) > level:
        return None
    dropped = 0
    while 2 * _tail(count, dropped + 1) <= level:
        dropped += 1
    return dropped
