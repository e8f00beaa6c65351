"""Look-ups in a table of rows, and bags of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from torch import Tensor

from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.operands import argument, elements, known_values, module_of, numeric, result
from torchscan.formulas.receptive import NOWHERE


def embedding(call: ModuleCall) -> ModuleEstimates:
    """Read each index and its row, and write the row: no arithmetic."""
    _check_rows(call)
    indices, written = numeric(argument(call, 0, "input"), "input"), result(call).numel()
    return {"module_flops": 0, "macs": 0, "dmas": indices.numel() + 2 * written, **NOWHERE}


def _check_rows(call: ModuleCall) -> None:
    module = module_of(call)
    if module.max_norm is not None:
        raise UnsupportedCall("max_norm rescales the rows that exceed it, which their values decide")


def embedding_bag(call: ModuleCall) -> ModuleEstimates:
    """Reduce bags of K rows of width D: (K - 1) D adds or comparisons, a mean D divides, weights K D products.

    A weighted bag is a row of a matrix product with the table, so its products are MACs. An empty bag is zeros.
    """
    _check_rows(call)
    module = module_of(call)
    indices, target = numeric(argument(call, 0, "input"), "input"), result(call)
    offsets, weights = argument(call, 1, "offsets"), argument(call, 2, "per_sample_weights")
    sizes = [size for size in _bag_sizes(module, indices, offsets, target.shape[0]) if size]
    gathered, width = sum(sizes), target.shape[-1]
    reduced = (gathered - len(sizes)) * width + (len(sizes) * width if module.mode == "mean" else 0)
    weighted = 0 if weights is None else gathered * width
    reads = elements(indices, offsets, weights) + gathered * width
    return {
        "module_flops": reduced + weighted,
        "macs": weighted,
        "dmas": reads + target.numel(),
        **NOWHERE,
    }


def _bag_sizes(module: Any, indices: Tensor, offsets: Tensor | None, bags: int) -> list[int]:
    """Give the number of rows in each bag; entries at ``padding_idx`` are no part of it."""
    if offsets is None:
        starts = [bag * indices.shape[1] for bag in range(bags + 1)]
    else:
        starts = known_values(offsets, "offsets")[: bags + 1]
        starts += [indices.numel()] * (bags + 1 - len(starts))
    if module.padding_idx is None:
        return [end - start for start, end in pairwise(starts)]
    rows = known_values(indices, "input")
    return [sum(row != module.padding_idx for row in rows[start:end]) for start, end in pairwise(starts)]


FAMILIES = (
    Family(
        group="Embedding",
        types=nn_types("Embedding"),
        estimate=embedding,
        flops="0",
        macs="0",
        dmas="indices + 2 × output (rows read and written)",
        spatial="none",
        boundary="no max_norm; dense indices",
    ),
    Family(
        group="Embedding",
        types=nn_types("EmbeddingBag"),
        estimate=embedding_bag,
        flops="(K − 1)·D per bag of K rows; mean + D; per-sample weights + K·D",
        macs="0; K·D per bag with per-sample weights",
        dmas="indices + offsets + weights + gathered rows + output",
        spatial="none",
        boundary="no max_norm; offsets, and indices where there is a padding_idx, with known values",
        cacheable=False,
    ),
)
