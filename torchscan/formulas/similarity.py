"""Distances and similarities between rows of K values."""

from __future__ import annotations

from math import inf

from torch import Tensor

from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import broadcast_shape, elements, module_of, operand, result
from torchscan.formulas.receptive import NOWHERE


def cosine_flops(size: int) -> int:
    """Count ``x·y / (max(|x|, eps) max(|y|, eps))``: three sums of K products; two roots, maxima; product, divide."""
    return 3 * max(2 * size - 1, 0) + 6


def distance_flops(size: int, power: float) -> int:
    """Count the p-norm of ``x - y + eps``: subtract and add 2K, then by p.

    p = 0 compares and adds (2K - 1), 1 takes magnitudes and adds (2K - 1), 2 squares, adds and roots (2K), infinity
    takes magnitudes and compares (2K - 1); any other takes magnitudes, powers, adds and a root (3K).
    """
    if power in (0, 1, inf):
        return 4 * size - 1
    return 4 * size if power == 2 else 5 * size


def cosine_similarity(call: ModuleCall) -> ModuleEstimates:
    """Count one similarity per output; the rows lie along ``dim`` of the common shape."""
    first, second, module = operand(call, "x1", 0), operand(call, "x2", 1), module_of(call)
    shape = broadcast_shape(first, second)
    return _per_row(first, second, result(call).numel(), cosine_flops(shape[module.dim]))


def pairwise_distance(call: ModuleCall) -> ModuleEstimates:
    """Count one distance per output; the rows lie along the last axis."""
    first, second, module = operand(call, "x1", 0), operand(call, "x2", 1), module_of(call)
    size = broadcast_shape(first, second)[-1]
    return _per_row(first, second, result(call).numel(), distance_flops(size, module.norm))


def _per_row(first: Tensor, second: Tensor, rows: int, flops: int) -> ModuleEstimates:
    return {"module_flops": rows * flops, "macs": 0, "dmas": elements(first, second) + rows, **NOWHERE}


FAMILIES = (
    Family(
        group="Similarity",
        types=nn_types("CosineSimilarity"),
        estimate=cosine_similarity,
        flops="6·K + 3 per row of K values",
        macs="0",
        dmas="inputs + output",
        spatial="none",
    ),
    Family(
        group="Similarity",
        types=nn_types("PairwiseDistance"),
        estimate=pairwise_distance,
        flops="4·K per row for p = 2, 4·K − 1 for p = 0, 1 or ∞, else 5·K",
        macs="0",
        dmas="inputs + output",
        spatial="none",
    ),
)
