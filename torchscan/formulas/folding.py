"""Sliding blocks: Unfold copies windows out, Fold adds them back where they overlap."""

from __future__ import annotations

from math import prod

from torchscan.formulas.axes import per_axis
from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import argument, module_of, numeric, operand, result
from torchscan.formulas.receptive import NOWHERE

_AXES = 2


def unfold(call: ModuleCall) -> ModuleEstimates:
    """Read and write each element of each window."""
    numeric(argument(call, 0, "input"), "input")
    return {"module_flops": 0, "macs": 0, "dmas": 2 * numeric(call.output, "the output").numel(), **NOWHERE}


def fold(call: ModuleCall) -> ModuleEstimates:
    """Count one add for each value after the first that lands on an output element; values on the padding drop."""
    source, target, module = operand(call), result(call), _settings(call)
    landed = prod(len(along) for along in module)
    covered = prod(len(set(along)) for along in module)
    planes = prod(target.shape[:-_AXES])
    dmas = source.numel() + target.numel()
    return {"module_flops": planes * (landed - covered), "macs": 0, "dmas": dmas, **NOWHERE}


def _settings(call: ModuleCall) -> list[list[int]]:
    """Give, for each axis, the output position of every value that lands inside."""
    module = module_of(call)
    names = ("output_size", "kernel_size", "stride", "padding", "dilation")
    settings = zip(*(per_axis(getattr(module, name), _AXES) for name in names), strict=True)
    return [_landings(*setting) for setting in settings]


def _landings(size: int, kernel: int, stride: int, padding: int, dilation: int) -> list[int]:
    blocks = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    places = (block * stride - padding + tap * dilation for block in range(blocks) for tap in range(kernel))
    return [place for place in places if 0 <= place < size]


FAMILIES = (
    Family(
        group="Movement",
        types=nn_types("Unfold"),
        estimate=unfold,
        flops="0",
        macs="0",
        dmas="2 × output",
        spatial="none",
        boundary="dense tensors of real numbers",
    ),
    Family(
        group="Movement",
        types=nn_types("Fold"),
        estimate=fold,
        flops="1 per value that lands on an output element after the first",
        macs="0",
        dmas="input + output",
        spatial="none",
    ),
)
