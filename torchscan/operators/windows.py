"""How many values the windows of a pooling or resampling operator hold along one axis."""

from __future__ import annotations

from functools import lru_cache
from math import ceil

_SETTINGS_KEPT = 4096  # one axis of one operator each; a model has a handful


@lru_cache(maxsize=_SETTINGS_KEPT)
def strided(size: int, outputs: int, kernel: int, stride: int, padding: int, dilation: int, *, padded: bool) -> int:
    """Add up the windows over an axis: with ``padded``, padding is part of them.

    ``ceil_mode`` may start a window near the end of the padded axis; it holds what is left there.
    """
    low, high = (-padding, size + padding) if padded else (0, size)
    return sum(
        sum(low <= start + tap * dilation < high for tap in range(kernel))
        for start in range(-padding, -padding + outputs * stride, stride)
    )


@lru_cache(maxsize=_SETTINGS_KEPT)
def adaptive(size: int, outputs: int) -> int:
    """Add up the windows of adaptive pooling: output i reads from floor(i s / o) up to ceil((i + 1) s / o)."""
    return sum(-(-(i + 1) * size // outputs) - i * size // outputs for i in range(outputs))


@lru_cache(maxsize=_SETTINGS_KEPT)
def smoothed(size: int, outputs: int, half_width: float, *, align_corners: bool, scale: float | None = None) -> int:
    """Add up the taps of antialiased resampling: the filter widens by the scale when shrinking, and stops at the edges.

    ``half_width`` is 1 for linear and 2 for cubic filters, in input values at scale 1.
    """
    if align_corners:
        ratio = (size - 1) / (outputs - 1) if outputs > 1 else 0.0
    else:
        ratio = 1 / scale if scale else size / outputs
    support = half_width * max(ratio, 1.0)
    taps = 0
    for output in range(outputs):
        center = ratio * (output + 0.5)
        first = max(int(center - support + 0.5), 0)
        last = min(int(center + support + 0.5), size)
        taps += min(max(last - first, 1), ceil(support) * 2 + 1)
    return taps
