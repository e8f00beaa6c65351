"""Operators that add values up where indices say so: one operation for each value that lands on another."""

from __future__ import annotations

from typing import Any

from torchscan.operators.extent import Args, Kwargs, at, elements, is_tensor, named
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "accumulation by index"

_SUM, _MEAN = 0, 1  # modes of an embedding bag; the third is max


def _each(index: int) -> Cost:
    """One add for each element of one argument."""

    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        return elements(at(args, index))

    return cost


def _index_add(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(self, dim, index, source, alpha=1)``: add, and multiply first when alpha is not 1."""
    return (1 + (kwargs.get("alpha", 1) != 1)) * elements(args[3])


def _index_put(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(self, indices, values, accumulate)``: a plain store moves values; accumulating adds each indexed element."""
    if not named(args, kwargs, 3, "accumulate", False):
        return 0
    return _indexed_elements(args[0], args[1]) if args[2].dim() else elements(args[1])


def _indexed_elements(target: Any, indices: Any) -> int:
    """Elements that advanced indexing selects: broadcast index positions times the axes left whole."""
    given = [index for index in indices if is_tensor(index)]
    whole = target.numel()
    positions = 1
    for index in given:
        positions = max(positions, elements(index))
    for axis, index in enumerate(indices):
        if is_tensor(index):
            whole //= max(target.shape[axis], 1)
    return positions * whole


def _scatter(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(self, dim, index, src or value)`` stores; with ``reduce`` it adds or multiplies each value."""
    return elements(args[2]) if "reduce" in kwargs else 0


def _scatter_reduce(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(self, dim, index, src, reduce)``: one operation per value; a mean divides every result once."""
    mean = elements(output) if args[4] == "mean" else 0
    return elements(args[2]) + mean


def _index_reduce(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(self, dim, index, source, reduce)``."""
    mean = elements(output) if args[4] == "mean" else 0
    return elements(args[3]) + mean


def _embedding_backward(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(gradient, indices, rows, padding, scale_by_frequency)``: add every row; scaling divides it first."""
    return (1 + bool(at(args, 4, False))) * elements(args[0])


def _bag(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(weight, indices, offsets, scale, mode, sparse, sample_weights, ...)``: every gathered row is added (or
    compared) once; weights multiply it first; a mean divides every bag."""
    gathered = elements(args[1]) * args[0].shape[-1]
    weighted = gathered if is_tensor(named(args, kwargs, 6, "per_sample_weights")) else 0
    mean = elements(output[0]) if at(args, 4, _SUM) == _MEAN else 0
    return gathered + weighted + mean


def _bag_backward(mode: int, weights: int) -> Cost:
    """Each gathered row receives its bag's gradient: an add, a product with its weight, a division for a mean. Max
    routes one gradient per bag."""

    def cost(args: Args, kwargs: Kwargs, output: Any) -> int:
        width = args[0].shape[-1]
        if args[mode] not in (_SUM, _MEAN):
            return elements(args[0])
        extra = is_tensor(at(args, weights)) + (args[mode] == _MEAN)
        return (1 + extra) * elements(args[1]) * width

    return cost


def _sample_weights_backward(args: Args, kwargs: Kwargs, output: Any) -> int:
    """A dot product of each gathered row with its bag's gradient: 2 D."""
    return 2 * elements(args[2]) * args[0].shape[-1]


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


ROWS: dict[str, Row] = {
    "aten.scatter_add": _row("1 per value", _each(2)),
    "aten.index_add": _row("1 per value, 2 when alpha is not 1", _index_add),
    "aten.index_put": _row("0; accumulating 1 per value", _index_put),
    "aten._index_put_impl": _row("0; accumulating 1 per value", _index_put),
    "aten._unsafe_index_put": _row("0; accumulating 1 per value", _index_put),
    "aten.put": _row("0; accumulating 1 per value", lambda args, kwargs, output: bool(at(args, 3)) * elements(args[1])),
    "aten.scatter": _row("0; with a reduction 1 per value", _scatter),
    "aten.scatter_reduce": _row("1 per value; mean + 1 per result", _scatter_reduce),
    "aten.index_reduce": _row("1 per value; mean + 1 per result", _index_reduce),
    "aten.segment_reduce": _row("1 per value", _each(0)),
    "aten._segment_reduce_backward": _row("1 per value", _each(2)),
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
            "1 per folded element", lambda args, kwargs, output: elements(args[0]) - elements(output)
        )
        for kind in ("reflection", "replication")
        for axes in (1, 2, 3)
    },
    "aten.embedding_renorm": _row(
        "3 per selected element", lambda args, kwargs, output: 3 * elements(args[1]) * args[0].shape[-1]
    ),
}
