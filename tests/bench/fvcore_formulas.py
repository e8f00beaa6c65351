"""Multiply-accumulates of operators that fvcore has no exact formula for, as it asks: (inputs, outputs) of a trace.

With them, a difference that remains has another cause than a missing formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

Formula = Callable[[list[Any], list[Any]], int]


def _shape(value: Any) -> list[int]:
    from fvcore.nn.jit_handles import get_shape

    return list(get_shape(value) or ())


def _attention(inputs: list[Any], outputs: list[Any]) -> int:  # fvcore's contract
    """(B, H, T, D) by (B, h, S, D) by (B, h, S, V): scores T S D, values T S V."""
    query, key, value = map(_shape, inputs[:3])
    return prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _batched(first: int) -> Formula:
    def count(inputs: list[Any], outputs: list[Any]) -> int:
        return prod(_shape(inputs[first])) * _shape(inputs[first + 1])[-1]

    return count


def _vector(inputs: list[Any], outputs: list[Any]) -> int:
    return prod(_shape(inputs[0]))


def _recurrent(inputs: list[Any], outputs: list[Any]) -> int:
    """Every weight matrix meets every step of every sequence; weights follow the states as lists or flat."""
    source = _shape(inputs[0])
    steps = prod(source[:-1]) if len(source) > 1 else 1
    weights = [_shape(item) for value in inputs[1:] for item in _items(value)]
    return steps * sum(prod(weight) for weight in weights if len(weight) == 2)


def _items(value: Any) -> list[Any]:
    node = value.node()
    return list(node.inputs()) if node.kind() == "prim::ListConstruct" else []


def _bilinear(inputs: list[Any], outputs: list[Any]) -> int:
    """One input at a time: I J per output, then J."""
    _, first, second = _shape(inputs[2])
    return prod(_shape(outputs[0])) * (first * second + second)


def _sum_of_products(inputs: list[Any], outputs: list[Any]) -> int:
    """Two operands of an einsum: as many products as all index lengths multiply to; an ellipsis covers the rest.

    Where no index longer than one is summed nothing accumulates: PyTorch dispatches an elementwise product.
    """
    equation, shapes = inputs[0].toIValue().replace(" ", ""), [_shape(item) for item in _items(inputs[1])]
    lengths: dict[str, int] = {}
    for names, shape in zip(equation.split("->")[0].split(","), shapes, strict=True):
        covered = len(shape) - len(names.replace("...", ""))
        spelled = names.replace("...", "".join(str(axis) for axis in range(covered)))
        for name, length in zip(spelled, shape, strict=True):
            lengths[name] = max(lengths.get(name, 1), length)
    summed = set(equation.split("->")[0]) - set(equation.split("->")[-1]) - {","}
    return prod(lengths.values()) if any(lengths[name] > 1 for name in summed) else 0


def _matrix(inputs: list[Any], outputs: list[Any]) -> int:
    """Every output is a dot product over the last axis of the first operand, whichever operand is broadcast."""
    return prod(_shape(outputs[0])) * _shape(inputs[0])[-1]


FORMULAS: Mapping[str, Formula] = {
    "aten::einsum": _sum_of_products,
    "aten::matmul": _matrix,
    "aten::scaled_dot_product_attention": _attention,
    "aten::baddbmm": _batched(1),
    "aten::addbmm": _batched(1),
    "aten::mv": _vector,
    "aten::dot": _vector,
    "aten::lstm": _recurrent,
    "aten::gru": _recurrent,
    "aten::rnn_tanh": _recurrent,
    "aten::rnn_relu": _recurrent,
    "aten::bilinear": _bilinear,
}
