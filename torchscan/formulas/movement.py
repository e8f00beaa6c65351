"""Modules that move, view or drop values: little or no arithmetic."""

from __future__ import annotations

from math import prod

from torch import nn

from torchscan.formulas.axes import uniform
from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import argument, module_of, numeric, operand
from torchscan.formulas.receptive import NOWHERE, POINT, Field, spatial
from torchscan.formulas.work import Work


def identity(call: ModuleCall) -> ModuleEstimates:  # noqa: ARG001 # every formula takes the call
    """Pass the input on, whatever it is: nothing is computed, read or written."""
    return {"module_flops": 0, "macs": 0, "dmas": 0, **spatial(POINT)}


def view(call: ModuleCall) -> ModuleEstimates:
    """Give the same elements another shape: nothing is computed or moved."""
    numeric(argument(call, 0, "input"), "input")
    return {"module_flops": 0, "macs": 0, "dmas": 0, **NOWHERE}


def rearrangement(call: ModuleCall) -> ModuleEstimates:
    """Read each element once and write it to its new place."""
    return _moved(call, NOWHERE)


def channel_shuffle(call: ModuleCall) -> ModuleEstimates:
    """Move channels: every position stays where it is."""
    return _moved(call, spatial(POINT))


def _moved(call: ModuleCall, field: ModuleEstimates) -> ModuleEstimates:
    source, target = numeric(argument(call, 0, "input"), "input"), numeric(call.output, "the output")
    return {"module_flops": 0, "macs": 0, "dmas": source.numel() + target.numel(), **field}


def padding(call: ModuleCall) -> ModuleEstimates:
    """Read the input, write the padded output. ``padding`` lists (begin, end) pairs from the last axis backwards."""
    module = module_of(call)
    return _moved(call, uniform(Field(1, 1, int(begin)) for begin in module.padding[::2]))


def dropout(call: ModuleCall) -> ModuleEstimates:
    """Count nothing in evaluation or with p = 0, and a mask over the values in training."""
    module = module_of(call)
    if not module.training or module.p == 0:
        return identity(call)
    return dropout_work(operand(call).numel(), module.p).estimates(spatial(POINT))


def alpha_dropout(call: ModuleCall) -> ModuleEstimates:
    """Count ``x m a + b`` in training, where the random mask m over M elements gives b by add, scale, add, and m a.

    The mask of FeatureAlphaDropout has one element per channel of (B, C, *). With p = 1 there is one product with zero.
    DMAs: the mask is written, four stages read and write M, and product and add read N + M and write N.
    """
    module = module_of(call)
    if not module.training or module.p == 0:
        return identity(call)
    source = operand(call)
    count = source.numel()
    if module.p == 1:
        return Work(flops=count, dmas=2 * count).estimates(spatial(POINT))
    mask = prod(source.shape[:2]) if isinstance(module, nn.FeatureAlphaDropout) else count
    return Work(flops=2 * count + 4 * mask, dmas=4 * count + 11 * mask).estimates(spatial(POINT))


def dropout_work(count: int, probability: float) -> Work:
    """Count dropout in training: a mask product and a scaling, 2N, or one product with zero, N, when p = 1.

    DMAs: the mask is written and read, and each product reads and writes its values.
    """
    return Work(flops=count, dmas=2 * count) if probability == 1 else Work(flops=2 * count, dmas=6 * count)


_DENSE = "dense tensors of real numbers"

FAMILIES = (
    Family(
        group="Movement",
        types=nn_types("Identity"),
        estimate=identity,
        flops="0",
        macs="0",
        dmas="0",
        spatial="1, 1, 0",
        boundary="any input",
    ),
    Family(
        group="Movement",
        types=nn_types("Flatten", "Unflatten"),
        estimate=view,
        flops="0",
        macs="0",
        dmas="0: a view",
        spatial="none",
        boundary=_DENSE,
    ),
    Family(
        group="Movement",
        types=nn_types("PixelShuffle", "PixelUnshuffle"),
        estimate=rearrangement,
        flops="0",
        macs="0",
        dmas="input + output",
        spatial="none",
        boundary=_DENSE,
    ),
    Family(
        group="Movement",
        types=nn_types("ChannelShuffle"),
        estimate=channel_shuffle,
        flops="0",
        macs="0",
        dmas="input + output",
        spatial="1, 1, 0",
        boundary=_DENSE,
    ),
    Family(
        group="Movement",
        types=nn_types(
            *(
                f"{mode}Pad{axes}d"
                for mode in ("Zero", "Constant", "Reflection", "Replication", "Circular")
                for axes in (1, 2, 3)
            )
        ),
        estimate=padding,
        flops="0",
        macs="0",
        dmas="input + output",
        spatial="1, 1, begin; none where axes differ",
        boundary=_DENSE,
    ),
    Family(
        group="Dropout",
        types=nn_types("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"),
        estimate=dropout,
        flops="evaluation or p = 0: 0; training 2·N, N when p = 1",
        macs="0",
        dmas="evaluation 0; training 6·N, 2·N when p = 1",
        spatial="1, 1, 0",
        boundary="any input in evaluation; real dense floating tensors in training",
    ),
    Family(
        group="Dropout",
        types=nn_types("AlphaDropout", "FeatureAlphaDropout"),
        estimate=alpha_dropout,
        flops="evaluation or p = 0: 0; training 2·N + 4·M for a mask of M elements, N when p = 1",
        macs="0",
        dmas="evaluation 0; training 4·N + 11·M, 2·N when p = 1",
        spatial="1, 1, 0",
        boundary="any input in evaluation; real dense floating tensors in training",
    ),
)
