"""Pooling over true windows: K values take K - 1 comparisons, or K - 1 adds and a division."""

from __future__ import annotations

from math import prod
from typing import Any

from torchscan.operators import windows
from torchscan.operators.extent import Args, Kwargs, at, elements, per_axis
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "pooling"


def _values(output: Any) -> Any:
    return output[0] if isinstance(output, tuple | list) else output


def _reads(source: Any, pooled: Any, axes: int, settings: tuple[Any, Any, Any, Any], *, padded: bool) -> int:
    """Multiply the window totals of the axes, times samples and channels."""
    kernel, stride, padding, dilation = settings
    kernels = per_axis(kernel, axes)
    strides, paddings, dilations = per_axis(stride, axes, kernels), per_axis(padding, axes), per_axis(dilation, axes)
    along = (
        windows.strided(size, outputs, kernels[i], strides[i], paddings[i], dilations[i], padded=padded)
        for i, (size, outputs) in enumerate(zip(source.shape[-axes:], pooled.shape[-axes:], strict=True))
    )
    return prod(pooled.shape[:-axes]) * prod(along)


def _max_pool(axes: int) -> Cost:
    """``op(input, kernel, stride=kernel, padding=0, dilation=1, ceil_mode=False)``; the padding is minus infinity."""

    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        pooled = _values(output)
        settings = (args[1], at(args, 2), at(args, 3, 0), at(args, 4, 1))
        return _reads(args[0], pooled, axes, settings, padded=True) - pooled.numel()

    return cost


def _avg_reads(source: Any, pooled: Any, axes: int, args: Args) -> int:
    """``args`` from the kernel on: kernel, stride, padding, ceil_mode, count_include_pad, divisor."""
    settings = (args[0], at(args, 1), at(args, 2, 0), 1)
    return _reads(source, pooled, axes, settings, padded=bool(at(args, 4, True)))


def _avg_pool(axes: int) -> Cost:
    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        return _avg_reads(args[0], output, axes, args[1:])

    return cost


def _avg_pool_backward(axes: int) -> Cost:
    """One division for each pooled gradient, one add for each value of its window."""

    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        return args[0].numel() + _avg_reads(args[1], args[0], axes, args[2:])

    return cost


def _adaptive_reads(source: Any, pooled: Any, axes: int) -> int:
    pairs = zip(source.shape[-axes:], pooled.shape[-axes:], strict=True)
    return prod(pooled.shape[:-axes]) * prod(windows.adaptive(size, outputs) for size, outputs in pairs)


def _adaptive_max(axes: int) -> Cost:
    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        pooled = _values(output)
        return _adaptive_reads(args[0], pooled, axes) - pooled.numel()

    return cost


def _adaptive_avg(axes: int) -> Cost:
    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        return _adaptive_reads(args[0], output, axes)

    return cost


def _adaptive_avg_backward(axes: int) -> Cost:
    """``(gradient, input)``: one division for each pooled gradient, one add for each value of its window."""

    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        return args[0].numel() + _adaptive_reads(args[1], args[0], axes)

    return cost


def _fractional_max(axes: int) -> Cost:
    """Windows lie at random places, whole, so each output compares K - 1 times: ``op(input, kernel, size, samples)``."""

    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        return (prod(per_axis(args[1], axes)) - 1) * _values(output).numel()

    return cost


def _routed(args: Args, kwargs: Kwargs, output: Any) -> int:
    """Each pooled gradient is added to the place that won."""
    return elements(args[0])


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
