"""Upsampling: nearest copies; linear modes blend pairs of values, D axes in 2^D - 1 blends of 3 operations per output.

Cubic is four rows and a column of four taps, 7 operations each. Positions and weights along an axis follow from the
shapes alone, so they are shape arithmetic.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from torchscan.formulas import windows
from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.operands import argument, floating, module_of, numeric, operand, result
from torchscan.formulas.receptive import NOWHERE


class Mode(NamedTuple):
    """How many input values one output reads, and the operations that it takes."""

    taps: int
    operations: int


_MODES = {
    "nearest": Mode(1, 0),
    "nearest-exact": Mode(1, 0),
    "linear": Mode(2, 3),
    "bilinear": Mode(4, 9),
    "trilinear": Mode(8, 21),
    "bicubic": Mode(16, 35),
}


def upsample(call: ModuleCall) -> ModuleEstimates:
    """Count by output element, so that a scale factor and the equal size count the same."""
    name = module_of(call).mode
    if name == "area":
        return _area(call)
    mode = _MODES.get(name)
    if mode is None:
        raise UnsupportedCall(f"the mode {name!r} has no formula")
    check = numeric if mode.operations == 0 else floating
    check(argument(call, 0, "input"), "input")
    outputs = numeric(call.output, "the output").numel()
    return {"module_flops": outputs * mode.operations, "macs": 0, "dmas": outputs * (mode.taps + 1), **NOWHERE}


def _area(call: ModuleCall) -> ModuleEstimates:
    """Count the means of adaptive windows, which is what this mode is."""
    source, target = operand(call), result(call)
    sizes = zip(source.shape[2:], target.shape[2:], strict=True)
    reads = prod(target.shape[:2]) * prod(windows.adaptive(size, outputs) for size, outputs in sizes)
    return {"module_flops": reads, "macs": 0, "dmas": reads + target.numel(), **NOWHERE}


FAMILIES = (
    Family(
        group="Movement",
        types=nn_types("Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d"),
        estimate=upsample,
        flops="per output: nearest 0, linear 3, bilinear 9, trilinear 21, bicubic 35; area as AdaptiveAvgPool",
        macs="0",
        dmas="per output: taps (1, 2, 4, 8, 16) + 1; area as AdaptiveAvgPool",
        spatial="none: what an output sees depends on its position",
    ),
)
