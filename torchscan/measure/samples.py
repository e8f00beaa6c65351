"""Order statistics of timing blocks. Pure, so that a saved report can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds of the first call and of each block; a block holds ``number_per_run`` calls."""

    first_call_seconds: float
    number_per_run: int
    raw_times_seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BlockStatistics:
    """Median and interquartile range of the blocks' average seconds per call."""

    median_seconds: float
    iqr_seconds: float


def quantile(values: Sequence[float], fraction: float) -> float:
    """Give the quantile by linear interpolation between order statistics (numpy's default)."""
    if not values:
        raise ValueError("a quantile needs at least one value")
    ordered = sorted(values)
    position = fraction * (len(ordered) - 1)
    index = min(int(position), len(ordered) - 2)
    if index < 0:
        return ordered[0]
    low, high = list(pairwise(ordered))[index]
    return low + (position - index) * (high - low)


def summarize_blocks(raw_times_seconds: Sequence[float], number_per_run: int) -> BlockStatistics:
    """Give median and IQR of seconds per call, from whole-block seconds."""
    per_call = [seconds / number_per_run for seconds in raw_times_seconds]
    return BlockStatistics(
        median_seconds=quantile(per_call, 0.5),
        iqr_seconds=quantile(per_call, 0.75) - quantile(per_call, 0.25),
    )
