"""Losses of distances between rows of K values, then the reduction of R rows."""

from __future__ import annotations

from typing import Any

from torchscan.formulas.family import Family, Formula, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.losses import reduction_work
from torchscan.formulas.operands import argument, elements, module_of, numeric, operand
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.similarity import cosine_flops, distance_flops
from torchscan.formulas.work import Work


def cosine_embedding(call: ModuleCall) -> ModuleEstimates:
    """Count the cosine c of each row, and ``1 - c if y = 1 else max(0, c - margin)``: 4 more."""
    first, second, target = operand(call, "input1", 0), operand(call, "input2", 1), argument(call, 2, "target")
    rows = numeric(target, "target").numel()
    work = Work(flops=rows * (cosine_flops(first.shape[-1]) + 4), dmas=elements(first, second, target) + 2 * rows)
    return (work + reduction_work(rows, module_of(call).reduction)).estimates(NOWHERE)


def triplet_margin(call: ModuleCall) -> ModuleEstimates:
    """Count two distances per row (three and a minimum with ``swap``), and ``max(d(a, p) - d(a, n) + margin, 0)``."""
    module = module_of(call)
    if getattr(module, "distance_function", None) is not None and not _is_default_distance(module.distance_function):
        raise UnsupportedCall("the distance is the caller's function")
    operands = [operand(call, name, at) for at, name in enumerate(("anchor", "positive", "negative"))]
    size, distances = operands[0].shape[-1], 3 if module.swap else 2
    rows = operands[0].numel() // max(size, 1)
    per_row = distances * distance_flops(size, getattr(module, "p", 2)) + module.swap + 3
    work = Work(flops=rows * per_row, dmas=distances * (2 * size + 1) * rows + (distances + 1) * rows)
    return (work + reduction_work(rows, module.reduction)).estimates(NOWHERE)


def _is_default_distance(function: Any) -> bool:
    """Say whether it is what torch itself puts there: a Euclidean PairwiseDistance."""
    return type(function) in nn_types("PairwiseDistance") and function.norm == 2


def _family(
    names: tuple[str, ...], estimate: Formula, flops: str, boundary: str = "real dense floating tensors"
) -> Family:
    return Family(
        group="Losses",
        types=nn_types(*names),
        estimate=estimate,
        flops=flops,
        macs="0",
        dmas="operands and distances; losses; a reduction reads the losses and writes one",
        spatial="none",
        boundary=boundary,
        cacheable=False,
    )


FAMILIES = (
    _family(("CosineEmbeddingLoss",), cosine_embedding, "6·K + 7 per row of K values; + reduction"),
    _family(
        ("TripletMarginLoss", "TripletMarginWithDistanceLoss"),
        triplet_margin,
        "per row 2 PairwiseDistance (3 and a minimum with swap) + 3; + reduction",
        boundary="real dense floating tensors; no distance function of the caller's",
    ),
)
