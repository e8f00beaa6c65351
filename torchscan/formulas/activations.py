"""Activations, element by element. An elementary function (exp, log, tanh, erf) and a comparison that picks a value
are one operation each, as are add, multiply and divide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torchscan.formulas.axes import OVER_CHANNELS, is_channels
from torchscan.formulas.family import REAL, Family, Formula, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import FLOATING, argument, elements, module_of, numeric, operand, result
from torchscan.formulas.receptive import NOWHERE, POINT, spatial


class Pointwise(NamedTuple):
    """An activation's documented formula and the scalar operations that it takes per element."""

    operations: int
    formula: str


EXACT_GELU = Pointwise(5, "0.5·x·(1 + erf(x/√2))")
TANH_GELU = Pointwise(9, "0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x·x·x)))")
RELU = Pointwise(1, "max(x, 0)")

POINTWISE: dict[str, Pointwise] = {
    "ReLU": RELU,
    "ReLU6": Pointwise(2, "min(max(x, 0), 6)"),
    "Hardtanh": Pointwise(2, "min(max(x, low), high)"),
    "Threshold": Pointwise(1, "x if x > t else v"),
    "LeakyReLU": Pointwise(2, "x if x > 0 else slope·x"),
    "RReLU": Pointwise(2, "x if x > 0 else slope·x; drawing slopes in training is no arithmetic"),
    "Sigmoid": Pointwise(4, "1/(1 + exp(−x))"),
    "LogSigmoid": Pointwise(5, "log(1/(1 + exp(−x)))"),
    "Tanh": Pointwise(1, "tanh(x)"),
    "Tanhshrink": Pointwise(2, "x − tanh(x)"),
    "Softsign": Pointwise(3, "x/(1 + |x|)"),
    "Softplus": Pointwise(6, "log(1 + exp(β·x))/β, or x above the threshold"),
    "Softshrink": Pointwise(4, "x − λ if x > λ, x + λ if x < −λ, else 0"),
    "Hardshrink": Pointwise(2, "x if x > λ or x < −λ, else 0"),
    "Hardsigmoid": Pointwise(4, "min(max(x + 3, 0), 6)/6"),
    "Hardswish": Pointwise(5, "x·min(max(x + 3, 0), 6)/6"),
    "SiLU": Pointwise(5, "x/(1 + exp(−x)), as x·sigmoid(x)"),
    "Mish": Pointwise(5, "x·tanh(log(1 + exp(x)))"),
    "ELU": Pointwise(4, "x if x > 0 else α·(exp(x) − 1)"),
    "CELU": Pointwise(5, "x if x > 0 else α·(exp(x/α) − 1)"),
    "SELU": Pointwise(5, "scale·(x if x > 0 else α·(exp(x) − 1))"),
}


def pointwise_estimates(call: ModuleCall, operations: int) -> ModuleEstimates:
    """Count ``operations`` for each element; one read and one write. Integer arithmetic is excluded."""
    count = numeric(argument(call, 0, "input"), "input").numel()
    arithmetic = numeric(call.output, "the output").dtype in FLOATING
    return {
        "module_flops": operations * count if arithmetic else 0,
        "macs": 0,
        "dmas": 2 * count,
        **spatial(POINT),
    }


def _pointwise(operations: int) -> Formula:
    def estimate(call: ModuleCall) -> ModuleEstimates:
        return pointwise_estimates(call, operations)

    return estimate


def gelu_operations(approximate: str) -> int:
    """Give the scalar operations of GELU per element, exact or by tanh."""
    return (TANH_GELU if approximate == "tanh" else EXACT_GELU).operations


def gelu(call: ModuleCall) -> ModuleEstimates:
    """Count the exact formula or its tanh approximation, as the module says."""
    module = module_of(call)
    return pointwise_estimates(call, gelu_operations(module.approximate))


def prelu(call: ModuleCall) -> ModuleEstimates:
    """Count ``x if x > 0 else a·x`` with a learned slope: a multiply and a pick; the slopes are read once."""
    count, module = operand(call).numel(), call.module
    slopes: Any = module.weight
    return {"module_flops": 2 * count, "macs": 0, "dmas": 2 * count + elements(slopes), **spatial(POINT)}


def glu(call: ModuleCall) -> ModuleEstimates:
    """Count ``a·sigmoid(b)`` for the two halves of the input: 5 operations per output."""
    source, outputs = operand(call), result(call).numel()
    module = module_of(call)
    field = spatial(POINT) if is_channels(source.dim(), module.dim) else NOWHERE
    return {"module_flops": 5 * outputs, "macs": 0, "dmas": source.numel() + outputs, **field}


def _activation(
    name: str,
    flops: str,
    estimate: Formula,
    dmas: str = "2·N",
    spatial: str = "1, 1, 0",
    boundary: str = REAL,
) -> Family:
    return Family(
        group="Activations",
        types=nn_types(name),
        estimate=estimate,
        flops=flops,
        macs="0",
        dmas=dmas,
        spatial=spatial,
        boundary=boundary,
    )


def _per_element(each: Pointwise) -> str:
    return f"{each.operations}·N: {each.formula}"


_ANY_NUMBER = "dense tensors of real numbers (integer arithmetic counts 0 FLOPs)"

FAMILIES = (
    *(
        _activation(name, flops=_per_element(each), estimate=_pointwise(each.operations), boundary=_ANY_NUMBER)
        for name, each in POINTWISE.items()
    ),
    _activation(
        "GELU",
        flops=f"exact {_per_element(EXACT_GELU)}; tanh {_per_element(TANH_GELU)}",
        estimate=gelu,
        boundary=_ANY_NUMBER,
    ),
    _activation("PReLU", flops="2·N: x if x > 0 else a·x", estimate=prelu, dmas="2·N + parameters"),
    _activation("GLU", flops="5 per output: a·sigmoid(b)", estimate=glu, dmas="input + output", spatial=OVER_CHANNELS),
)
