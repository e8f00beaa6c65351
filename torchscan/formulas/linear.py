"""Matrix products: Linear and Bilinear."""

from __future__ import annotations

from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import elements, floating, module_of, operand, result
from torchscan.formulas.receptive import NOWHERE


def dot_flops(outputs: int, terms: int, bias: bool) -> int:
    """Count dot products of ``terms`` terms: K multiplies, K - 1 adds, and one add per output for a bias."""
    return outputs * (max(2 * terms - 1, 0) + bias)


def linear(call: ModuleCall) -> ModuleEstimates:
    """Count ``y = x A' + b`` from the tensors' shapes, as the module's attributes may have been changed by hand."""
    source, target = operand(call), result(call)
    module = module_of(call)
    weight, bias = floating(module.weight, "the weight"), module.bias
    outputs, terms = target.numel(), weight.shape[1]
    return {
        "module_flops": dot_flops(outputs, terms, bias is not None),
        "macs": outputs * terms,
        "dmas": source.numel() + elements(weight, bias) + outputs,
        **NOWHERE,
    }


def bilinear(call: ModuleCall) -> ModuleEstimates:
    """Count ``y = x1 A x2 + b`` in two stages: ``x1 A`` gives O x J numbers per row, their product with ``x2`` gives O.

    With I, J inputs and O outputs per row: I J O + J O products. The staged value is written once and read once.
    """
    first, second, target = operand(call, "input1", 0), operand(call, "input2", 1), result(call)
    module = module_of(call)
    weight, bias = floating(module.weight, "the weight"), module.bias
    outputs, staged = target.numel(), target.numel() * weight.shape[2]
    return {
        "module_flops": dot_flops(staged, weight.shape[1], False)
        + dot_flops(outputs, weight.shape[2], bias is not None),
        "macs": staged * weight.shape[1] + staged,
        "dmas": elements(first, second, weight, bias) + 2 * staged + outputs,
        **NOWHERE,
    }


FAMILIES = (
    Family(
        group="Matrix products",
        types=nn_types("Linear"),
        estimate=linear,
        flops="per output 2·in − 1, + 1 with a bias",
        macs="outputs × in",
        dmas="input + parameters + output",
        spatial="none",
    ),
    Family(
        group="Matrix products",
        types=nn_types("Bilinear"),
        estimate=bilinear,
        flops="per output: in2 dot products of in1 terms, one of in2 terms, + 1 with a bias",
        macs="outputs × in2 × (in1 + 1)",
        dmas="inputs + parameters + 2 × outputs × in2 (staged) + output",
        spatial="none",
    ),
)
