"""Convolutions and transposed convolutions in one to three dimensions, counted densely: padding takes part."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from torchscan.formulas.axes import uniform
from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.linear import dot_flops
from torchscan.formulas.operands import elements, floating, module_of, operand, result
from torchscan.formulas.receptive import NOWHERE, Field


def convolution(call: ModuleCall) -> ModuleEstimates:
    """Count one dot product of Cin/groups x kernel volume terms per output element.

    The weight is (Cout, Cin/groups, *kernel). Each product reads one input element of the output's window; parameters
    are read once. Padding of any mode is part of the window, as in the native dense count.
    """
    operand(call)
    module = module_of(call)
    weight, bias, outputs = floating(module.weight, "the weight"), module.bias, result(call).numel()
    terms = prod(weight.shape[1:])
    return {
        "module_flops": dot_flops(outputs, terms, bias is not None),
        "macs": outputs * terms,
        "dmas": outputs * terms + elements(weight, bias) + outputs,
        **uniform(_convolution_fields(module, weight.shape[2:])),
    }


def _convolution_fields(module: Any, kernel: tuple[int, ...]) -> Iterator[Field]:
    for axis, size in enumerate(kernel):
        reach = int(module.dilation[axis]) * (size - 1)
        padding = module.padding
        # "same" splits the reach and puts the odd element on the right; "valid" is no padding.
        left = (reach // 2 if padding == "same" else 0) if isinstance(padding, str) else int(padding[axis])
        yield Field(reach + 1, int(module.stride[axis]), left)


def transposed(call: ModuleCall) -> ModuleEstimates:
    """Count the products that every input element sends out: Cout/groups x kernel volume of them.

    The weight is (Cin, Cout/groups, *kernel). A product and its accumulation are 2 FLOPs; a bias adds one per output.
    Each product reads its input element, as in a convolution.
    """
    source, outputs = operand(call), result(call).numel()
    module = module_of(call)
    weight, bias = floating(module.weight, "the weight"), module.bias
    products = source.numel() * prod(weight.shape[1:])
    return {
        "module_flops": 2 * products + (0 if bias is None else outputs),
        "macs": products,
        "dmas": products + elements(weight, bias) + outputs,
        **_transposed_field(module, weight.shape[2:]),
    }


def _transposed_field(module: Any, kernel: tuple[int, ...]) -> ModuleEstimates:
    """With a stride, neighbouring outputs see different numbers of inputs, so there is no field of one size."""
    if any(int(stride) != 1 for stride in module.stride):
        return NOWHERE
    reaches = (int(dilation) * (size - 1) for dilation, size in zip(module.dilation, kernel, strict=True))
    return uniform(
        Field(reach + 1, 1, reach - int(padding)) for reach, padding in zip(reaches, module.padding, strict=True)
    )


FAMILIES = (
    Family(
        group="Convolutions",
        types=nn_types("Conv1d", "Conv2d", "Conv3d"),
        estimate=convolution,
        flops="per output 2·K − 1 with K = Cin/groups × kernel volume, + 1 with a bias",
        macs="outputs × K",
        dmas="outputs × K (windows) + parameters + output",
        spatial="dilation·(kernel − 1) + 1, stride, left padding; none where axes differ",
        methods=("_conv_forward",),
    ),
    Family(
        group="Convolutions",
        types=nn_types("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
        estimate=transposed,
        flops="2 × inputs × Cout/groups × kernel volume, + 1 per output with a bias",
        macs="inputs × Cout/groups × kernel volume",
        dmas="MACs (input reads) + parameters + output",
        spatial="as a convolution when the stride is 1; none with a stride, where it depends on the position",
    ),
)
