"""Operators that add values up where indices say so: one operation for each value that lands on another."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor

from torchscan.operators.call import Call, elements, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "accumulation by index"

_SUM, _MEAN = 0, 1  # modes of an embedding bag; the third is max


def _each(index: int) -> Cost:
    """One add for each element of one argument."""

    def cost(call: Call) -> int:
        return elements(call.at(index))

    return cost


def _index_add(call: Call) -> int:
    """``(self, dim, index, source, alpha=1)``: add, and multiply first when alpha is not 1."""
    return (2 if call.kwargs.get("alpha", 1) != 1 else 1) * elements(call.args[3])


def _index_put(call: Call) -> int:
    """``(self, indices, values, accumulate)``: a plain store moves values; accumulating adds each indexed element."""
    if not call.named(3, "accumulate", False):
        return 0
    return max(elements(call.args[2]), _indexed_elements(call.args[0], call.args[1]))


def _indexed_elements(target: Any, indices: Any) -> int:
    """Elements that integer indices select: their broadcast positions times the axes left whole. A boolean mask selects
    a number that only its values know; the values stored then tell it."""
    given = [(axis, index) for axis, index in enumerate(indices) if isinstance(index, Tensor)]
    if any(index.dtype in (torch.bool, torch.uint8) for _, index in given):
        return 0
    positions = prod(torch.broadcast_shapes(*(index.shape for _, index in given)))  # type: ignore[no-untyped-call] # torch's
    indexed = {axis for axis, _ in given}
    return positions * prod(size for axis, size in enumerate(sizes(target)) if axis not in indexed)


def _scatter(call: Call) -> int:
    """``(self, dim, index, src or value)`` stores; with ``reduce`` it adds or multiplies each value."""
    return elements(call.args[2]) if "reduce" in call.kwargs else 0


def _scatter_reduce(call: Call) -> int:
    """``(self, dim, index, src, reduce)``: one operation per value; a mean divides every result once."""
    mean = elements(call.output) if call.args[4] == "mean" else 0
    return elements(call.args[2]) + mean


def _index_reduce(call: Call) -> int:
    """``(self, dim, index, source, reduce)``."""
    mean = elements(call.output) if call.args[4] == "mean" else 0
    return elements(call.args[3]) + mean


def _weighted_bins(call: Call) -> int:
    """Counting into bins is no real arithmetic; weights are added up, one by one."""
    return elements(call.named(1, "weights"))


def _weighted_histogram(call: Call) -> int:
    """``(self, bins, ..., weight)``: the bins may be a tensor of edges, so only the name tells the weights."""
    return elements(call.kwargs.get("weight"))


def _embedding_backward(call: Call) -> int:
    """``(gradient, indices, rows, padding, scale_by_frequency)``: add every row; scaling divides it first."""
    return (1 + bool(call.at(4, False))) * elements(call.args[0])


def _bag(call: Call) -> int:
    """``(weight, indices, offsets, scale, mode, sparse, sample_weights, ...)``: every gathered row is added (or
    compared) once; weights multiply it first; a mean divides every bag."""
    gathered = elements(call.args[1]) * sizes(call.args[0])[-1]
    weighted = gathered if call.has(6, "per_sample_weights") else 0
    mean = elements(call.values) if call.at(4, _SUM) == _MEAN else 0
    return gathered + weighted + mean


def _bag_backward(mode: int, weights: int) -> Cost:
    """Each gathered row receives its bag's gradient: an add, a product with its weight, a division for a mean. Max
    routes one gradient per bag."""

    def cost(call: Call) -> int:
        width = sizes(call.args[0])[-1]
        if call.args[mode] not in (_SUM, _MEAN):
            return elements(call.args[0])
        is_mean = bool(call.args[mode] == _MEAN)
        return (1 + call.has(weights) + is_mean) * elements(call.args[1]) * width

    return cost


def _sample_weights_backward(call: Call) -> int:
    """A dot product of each gathered row with its bag's gradient: 2 D."""
    return 2 * elements(call.args[2]) * sizes(call.args[0])[-1]


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


ROWS: dict[str, Row] = {
    "aten.scatter_add": _row("1 per value", _each(2)),
    "aten.index_add": _row("1 per value, 2 when alpha is not 1", _index_add),
    "aten.index_put": _row("0; accumulating 1 per value", _index_put),
    "aten._index_put_impl": _row("0; accumulating 1 per value", _index_put),
    "aten._unsafe_index_put": _row("0; accumulating 1 per value", _index_put),
    "aten._unsafe_masked_index_put_accumulate": _row("1 per value", lambda call: elements(call.args[3])),
    "aten.put": _row("0; accumulating 1 per value", lambda call: bool(call.at(3)) * elements(call.args[1])),
    "aten.scatter": _row("0; with a reduction 1 per value", _scatter),
    "aten.scatter_reduce": _row("1 per value; mean + 1 per result", _scatter_reduce),
    "aten.index_reduce": _row("1 per value; mean + 1 per result", _index_reduce),
    "aten.segment_reduce": _row("1 per value", _each(0)),
    "aten._segment_reduce_backward": _row("1 per value", _each(2)),
    "aten.bincount": _row("0; weighted 1 per value", _weighted_bins),
    **{
        f"aten.{name}": _row("0; weighted 1 per value", _weighted_histogram)
        for name in ("histogram", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors")
    },
    "aten.col2im": _row("1 per column element", _each(0)),
    "aten.unfold_backward": _row("1 per gradient element", _each(0)),
    "aten.embedding_dense_backward": _row("1 per gradient element", _embedding_backward),
    "aten._embedding_bag": _row("1 per gathered element; weighted + 1; mean + 1 per result", _bag),
    "aten._embedding_bag_forward_only": _row("1 per gathered element; weighted + 1; mean + 1 per result", _bag),
    "aten._embedding_bag_backward": _row("1 per gathered element; weighted + 1; mean + 1", _bag_backward(8, 10)),
    "aten._embedding_bag_dense_backward": _row("1 per gathered element; weighted + 1; mean + 1", _bag_backward(7, 8)),
    "aten._embedding_bag_per_sample_weights_backward": _row("2 per gathered element", _sample_weights_backward),
    # The border's gradients fold back onto the inside.
    **{
        f"aten.{kind}_pad{axes}d_backward": _row(
            "1 per folded element", lambda call: elements(call.args[0]) - elements(call.output)
        )
        for kind in ("reflection", "replication")
        for axes in (1, 2, 3)
    },
    "aten.embedding_renorm": _row(
        "3 per selected element", lambda call: 3 * elements(call.args[1]) * sizes(call.args[0])[-1]
    ),
}
