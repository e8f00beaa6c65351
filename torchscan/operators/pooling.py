"""Pooling over true windows: K values take K - 1 comparisons, or K - 1 adds and a division."""

from __future__ import annotations

from math import prod
from typing import Any

from torchscan.operators import windows
from torchscan.operators.call import Call, elements, per_axis, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "pooling"


def _reads(source: Any, pooled: Any, axes: int, settings: tuple[Any, Any, Any, Any], *, padded: bool) -> int:
    """Multiply the window totals of the axes, times samples and channels."""
    kernel, stride, padding, dilation = settings
    kernels = per_axis(kernel, axes)
    strides, paddings, dilations = per_axis(stride, axes, kernels), per_axis(padding, axes), per_axis(dilation, axes)
    along = (
        windows.strided(size, outputs, kernels[i], strides[i], paddings[i], dilations[i], padded=padded)
        for i, (size, outputs) in enumerate(zip(sizes(source)[-axes:], sizes(pooled)[-axes:], strict=True))
    )
    return prod(sizes(pooled)[:-axes]) * prod(along)


def _max_pool(axes: int) -> Cost:
    """``op(input, kernel, stride=kernel, padding=0, dilation=1, ceil_mode=False)``; the padding is minus infinity."""

    def cost(call: Call) -> int:
        pooled = call.values
        settings = (call.args[1], call.at(2), call.at(3, 0), call.at(4, 1))
        return _reads(call.args[0], pooled, axes, settings, padded=True) - elements(pooled)

    return cost


def _avg_reads(source: Any, pooled: Any, axes: int, call: Call, kernel: int) -> int:
    """From the kernel's place on: kernel, stride, padding, ceil_mode, count_include_pad, divisor."""
    settings = (call.at(kernel), call.at(kernel + 1), call.at(kernel + 2, 0), 1)
    return _reads(source, pooled, axes, settings, padded=bool(call.at(kernel + 4, True)))


def _avg_pool(axes: int) -> Cost:
    def cost(call: Call) -> int:
        return _avg_reads(call.args[0], call.output, axes, call, kernel=1)

    return cost


def _avg_pool_backward(axes: int) -> Cost:
    """One division for each pooled gradient, one add for each value of its window."""

    def cost(call: Call) -> int:
        return elements(call.args[0]) + _avg_reads(call.args[1], call.args[0], axes, call, kernel=2)

    return cost


def _adaptive_reads(source: Any, pooled: Any, axes: int) -> int:
    pairs = zip(sizes(source)[-axes:], sizes(pooled)[-axes:], strict=True)
    return prod(sizes(pooled)[:-axes]) * prod(windows.adaptive(size, outputs) for size, outputs in pairs)


def _adaptive_max(axes: int) -> Cost:
    def cost(call: Call) -> int:
        pooled = call.values
        return _adaptive_reads(call.args[0], pooled, axes) - elements(pooled)

    return cost


def _adaptive_avg(axes: int) -> Cost:
    def cost(call: Call) -> int:
        return _adaptive_reads(call.args[0], call.output, axes)

    return cost


def _adaptive_avg_backward(axes: int) -> Cost:
    """``(gradient, input)``: one division for each pooled gradient, one add for each value of its window."""

    def cost(call: Call) -> int:
        return elements(call.args[0]) + _adaptive_reads(call.args[1], call.args[0], axes)

    return cost


def _fractional_max(axes: int) -> Cost:
    """``op(input, kernel, size, samples)``: windows lie at random places, whole: each output compares K - 1 times."""

    def cost(call: Call) -> int:
        return (prod(per_axis(call.args[1], axes)) - 1) * elements(call.values)

    return cost


def _routed(call: Call) -> int:
    """Each pooled gradient is added to the place that won."""
    return elements(call.args[0])


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


_ROUTED = "1 add per pooled gradient"
_SPREAD = "1 division per pooled gradient, 1 add per window value"

ROWS: dict[str, Row] = {
    "aten.max_pool1d": _row("K - 1 per window", _max_pool(1)),
    "aten.max_pool2d": _row("K - 1 per window", _max_pool(2)),
    "aten.max_pool3d": _row("K - 1 per window", _max_pool(3)),
    "aten.max_pool2d_with_indices": _row("K - 1 per window", _max_pool(2)),
    "aten.max_pool3d_with_indices": _row("K - 1 per window", _max_pool(3)),
    "aten.mkldnn_max_pool2d": _row("K - 1 per window", _max_pool(2)),
    "aten.mkldnn_max_pool3d": _row("K - 1 per window", _max_pool(3)),
    "aten.avg_pool1d": _row("K per window", _avg_pool(1)),
    "aten.avg_pool2d": _row("K per window", _avg_pool(2)),
    "aten.avg_pool3d": _row("K per window", _avg_pool(3)),
    "aten._adaptive_avg_pool2d": _row("K per true window", _adaptive_avg(2)),
    "aten._adaptive_avg_pool3d": _row("K per true window", _adaptive_avg(3)),
    "aten.mkldnn_adaptive_avg_pool2d": _row("K per true window", _adaptive_avg(2)),
    "aten.adaptive_max_pool2d": _row("K - 1 per true window", _adaptive_max(2)),
    "aten.adaptive_max_pool3d": _row("K - 1 per true window", _adaptive_max(3)),
    "aten.fractional_max_pool2d": _row("K - 1 per window", _fractional_max(2)),
    "aten.fractional_max_pool3d": _row("K - 1 per window", _fractional_max(3)),
    "aten.avg_pool2d_backward": _row(_SPREAD, _avg_pool_backward(2)),
    "aten.avg_pool3d_backward": _row(_SPREAD, _avg_pool_backward(3)),
    "aten._adaptive_avg_pool2d_backward": _row(_SPREAD, _adaptive_avg_backward(2)),
    "aten._adaptive_avg_pool3d_backward": _row(_SPREAD, _adaptive_avg_backward(3)),
    "aten.mkldnn_adaptive_avg_pool2d_backward": _row(_SPREAD, _adaptive_avg_backward(2)),
    **{
        f"aten.{name}_backward": _row(_ROUTED, _routed)
        for name in (
            "max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d",
            "fractional_max_pool2d", "fractional_max_pool3d", "max_pool2d", "mkldnn_max_pool2d", "mkldnn_max_pool3d",
        )
    },
}  # fmt: skip
