"""How many elements the windows of a pooling layer hold along one axis, and in all."""

from __future__ import annotations

from functools import lru_cache

_REMEMBERED = 4096  # settings of one axis; a network has a handful


@lru_cache(maxsize=_REMEMBERED)
def strided(
    size: int, outputs: int, kernel: int, stride: int, padding: int, dilation: int, counts_padding: bool
) -> int:
    """Add up the sizes of ``outputs`` windows over an axis of ``size`` elements.

    A window ends where the padded axis ends (``ceil_mode`` lets it start near the end), or where the axis itself ends
    when padding does not count.
    """
    margin = padding if counts_padding else 0
    first, last = -margin, size + margin - 1
    reach = dilation * (kernel - 1)
    # Windows that no edge cuts are a run of outputs, and only those before and after it are looked at one by one.
    begin = min(outputs, max(0, -((-padding - first) // stride)))
    end = min(outputs, max(begin, (last - reach + padding) // stride + 1))
    total = (end - begin) * kernel
    for output in (*range(begin), *range(end, outputs)):
        start = output * stride - padding
        skipped = max(0, -((start - first) // dilation))
        reached = min(kernel, (last - start) // dilation + 1)
        total += max(0, reached - skipped)
    return total


@lru_cache(maxsize=_REMEMBERED)
def adaptive(size: int, outputs: int) -> int:
    """Add up the true windows of adaptive pooling: from floor(i·size/outputs) up to ceil((i+1)·size/outputs)."""
    return sum(-(-(index + 1) * size // outputs) - index * size // outputs for index in range(outputs))
