"""Pooling over true windows: W window elements and N outputs give W reads, and W - N adds or comparisons."""

from __future__ import annotations

from math import prod
from typing import Any

from torch import Tensor

from torchscan.formulas import windows
from torchscan.formulas.axes import per_axis, spatial_axes, uniform
from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import FLOATING, argument, module_of, numeric, operand
from torchscan.formulas.receptive import NOWHERE, Field


def _pooled(call: ModuleCall) -> tuple[Tensor, Tensor, int, int]:
    """Give input, output, the number of spatial axes and the elements written, returned indices included."""
    source = numeric(argument(call, 0, "input"), "input")
    outputs = call.output if isinstance(call.output, tuple) else (call.output,)
    target = numeric(outputs[0], "the output")
    return source, target, spatial_axes(call.module), target.numel() * len(outputs)


def _estimates(source: Tensor, flops: int, reads: int, writes: int, field: ModuleEstimates) -> ModuleEstimates:
    counted = flops if source.dtype in FLOATING else 0  # integer arithmetic is excluded
    return {"module_flops": counted, "macs": 0, "dmas": reads + writes, **field}


def _strided_windows(source: Tensor, target: Tensor, axes: int, settings: list[tuple[int, ...]], padded: bool) -> int:
    sizes, outputs = source.shape[-axes:], target.shape[-axes:]
    along = (
        windows.strided(size, count, *setting, padded)
        for size, count, setting in zip(sizes, outputs, settings, strict=True)
    )
    return prod(target.shape[:-axes]) * prod(along)


def _settings(module: Any, axes: int) -> list[tuple[int, ...]]:
    """Give (kernel, stride, padding, dilation) for each axis."""
    kernel = per_axis(module.kernel_size, axes)
    stride = kernel if module.stride is None else per_axis(module.stride, axes)
    padding = per_axis(getattr(module, "padding", 0), axes)
    dilation = per_axis(getattr(module, "dilation", 1), axes)
    return list(zip(kernel, stride, padding, dilation, strict=True))


def _field(settings: list[tuple[int, ...]]) -> ModuleEstimates:
    return uniform(
        Field(dilation * (kernel - 1) + 1, stride, padding) for kernel, stride, padding, dilation in settings
    )


def max_pool(call: ModuleCall) -> ModuleEstimates:
    """Count K - 1 comparisons per window of K; the documented padding of minus infinity takes part."""
    source, target, axes, writes = _pooled(call)
    settings = _settings(call.module, axes)
    reads = _strided_windows(source, target, axes, settings, padded=True)
    return _estimates(source, reads - target.numel(), reads, writes, _field(settings))


def avg_pool(call: ModuleCall) -> ModuleEstimates:
    """Count K - 1 adds and one divide per window of K; padding takes part unless ``count_include_pad`` is false."""
    source, target, axes, writes = _pooled(call)
    module = module_of(call)
    settings = _settings(module, axes)
    reads = _strided_windows(source, target, axes, settings, padded=module.count_include_pad)
    return _estimates(source, reads, reads, writes, _field(settings))


def power_pool(call: ModuleCall) -> ModuleEstimates:
    """Count K powers, K - 1 adds and one root per window of K."""
    operand(call)
    source, target, axes, writes = _pooled(call)
    settings = _settings(call.module, axes)
    reads = _strided_windows(source, target, axes, settings, padded=True)
    return _estimates(source, 2 * reads, reads, writes, _field(settings))


def _adaptive(call: ModuleCall) -> tuple[Tensor, Tensor, int, int, ModuleEstimates]:
    source, target, axes, writes = _pooled(call)
    pairs = list(zip(source.shape[-axes:], target.shape[-axes:], strict=True))
    reads = prod(target.shape[:-axes]) * prod(windows.adaptive(size, outputs) for size, outputs in pairs)
    if any(outputs == 0 or size % outputs for size, outputs in pairs):
        return source, target, reads, writes, NOWHERE
    field = uniform(Field(size // outputs, size // outputs, 0) for size, outputs in pairs)
    return source, target, reads, writes, field


def adaptive_max_pool(call: ModuleCall) -> ModuleEstimates:
    """Count K - 1 comparisons for each true window of K."""
    source, target, reads, writes, field = _adaptive(call)
    return _estimates(source, reads - target.numel(), reads, writes, field)


def adaptive_avg_pool(call: ModuleCall) -> ModuleEstimates:
    """Count K - 1 adds and one divide for each true window of K."""
    source, _, reads, writes, field = _adaptive(call)
    return _estimates(source, reads, reads, writes, field)


def fractional_max_pool(call: ModuleCall) -> ModuleEstimates:
    """Count K - 1 comparisons per output; windows lie at random places and never reach over an edge."""
    source, target, axes, writes = _pooled(call)
    module = module_of(call)
    reads = target.numel() * prod(per_axis(module.kernel_size, axes))
    return _estimates(source, reads - target.numel(), reads, writes, NOWHERE)


def max_unpool(call: ModuleCall) -> ModuleEstimates:
    """Move each value to the place that its index names, and write zeros elsewhere: no arithmetic."""
    source, _, _, writes = _pooled(call)
    return _estimates(source, 0, 2 * source.numel(), writes, NOWHERE)


_STRIDED = "extent, stride, padding; none where axes differ"
_POOL_DMAS = "window reads + output (+ indices where returned)"
_DENSE = "dense tensors of real numbers (integer arithmetic counts 0 FLOPs)"


def _types(*stems: str) -> tuple[Any, ...]:
    return nn_types(*(f"{stem}{axes}d" for stem in stems for axes in (1, 2, 3)))


FAMILIES = (
    Family(
        group="Pooling",
        types=_types("MaxPool"),
        estimate=max_pool,
        flops="K − 1 per window of K elements; a window that ceil_mode cuts at the padded edge counts what is left",
        macs="0",
        dmas=_POOL_DMAS,
        spatial=_STRIDED,
        boundary=_DENSE,
    ),
    Family(
        group="Pooling",
        types=_types("AvgPool"),
        estimate=avg_pool,
        flops="K per window of K elements; padding is left out with count_include_pad=False",
        macs="0",
        dmas=_POOL_DMAS,
        spatial=_STRIDED,
        boundary=_DENSE,
    ),
    Family(
        group="Pooling",
        types=_types("LPPool"),
        estimate=power_pool,
        flops="2·K per window of K elements (powers, adds, root)",
        macs="0",
        dmas=_POOL_DMAS,
        spatial=_STRIDED,
    ),
    Family(
        group="Pooling",
        types=_types("AdaptiveMaxPool"),
        estimate=adaptive_max_pool,
        flops="K − 1 per true window of K elements",
        macs="0",
        dmas=_POOL_DMAS,
        spatial="window size and stride where all windows are equal; else none",
        boundary=_DENSE,
    ),
    Family(
        group="Pooling",
        types=_types("AdaptiveAvgPool"),
        estimate=adaptive_avg_pool,
        flops="K per true window of K elements",
        macs="0",
        dmas=_POOL_DMAS,
        spatial="window size and stride where all windows are equal; else none",
        boundary=_DENSE,
    ),
    Family(
        group="Pooling",
        types=_types("FractionalMaxPool"),
        estimate=fractional_max_pool,
        flops="K − 1 per window of K elements",
        macs="0",
        dmas=_POOL_DMAS,
        spatial="none: windows lie at random",
        boundary=_DENSE,
    ),
    Family(
        group="Pooling",
        types=_types("MaxUnpool"),
        estimate=max_unpool,
        flops="0",
        macs="0",
        dmas="2 × input (values and indices) + output",
        spatial="none",
        boundary=_DENSE,
    ),
)
