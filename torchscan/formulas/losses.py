"""Losses element by element: operations per element, then the reduction of N losses.

none 0, mean N (N - 1 adds and a divide), sum N - 1. DMAs: the operands are read and each loss written; a reduction
reads the losses and writes one number. Squares that are summed in a later stage are no MACs.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from torch import Tensor

from torchscan.formulas.family import Family, Formula, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.operands import argument, broadcast_shape, elements, module_of, numeric, operand
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.work import Work


def reduction_work(losses: int, reduction: str) -> Work:
    """Count reducing ``losses`` numbers to one, or leaving them as they are."""
    flops = {"none": 0, "mean": losses, "batchmean": losses, "sum": max(losses - 1, 0)}[reduction]
    return Work(flops=flops, dmas=0 if reduction == "none" else losses + 1)


class Pointwise(NamedTuple):
    """A loss per element: its operations and formula."""

    operations: int
    formula: str


POINTWISE: dict[str, Pointwise] = {
    "L1Loss": Pointwise(2, "|x − y|"),
    "MSELoss": Pointwise(2, "(x − y)²"),
    "SmoothL1Loss": Pointwise(7, "d = |x − y|: 0.5·d·d/β if d < β else d − 0.5·β"),
    "HuberLoss": Pointwise(7, "d = |x − y|: 0.5·d·d if d < δ else δ·(d − 0.5·δ)"),
    "SoftMarginLoss": Pointwise(4, "log1p(exp(−y·x))"),
    "HingeEmbeddingLoss": Pointwise(3, "x if y = 1 else max(0, margin − x)"),
    "BCELoss": Pointwise(8, "−(y·log x + (1 − y)·log(1 − x)); + 1 with a weight"),
    "BCEWithLogitsLoss": Pointwise(8, "(1 − y)·x − log σ(x), σ by its own 4; + 1 per weight tensor"),
    "KLDivLoss": Pointwise(3, "y·(log y − x), or exp(y)·(y − x)"),
}


def pointwise(operations: int) -> Formula:
    """Give the formula of a loss per element; each weight tensor that the module holds adds a product."""

    def estimate(call: ModuleCall) -> ModuleEstimates:
        module = module_of(call)
        operands = [operand(call), numeric(argument(call, 1, "target"), "target")]
        weights = [tensor for name in ("weight", "pos_weight") if (tensor := getattr(module, name, None)) is not None]
        return _elementwise(module, operands, weights, operations + len(weights))

    return estimate


def _elementwise(module: Any, operands: list[Tensor], weights: list[Tensor], operations: int) -> ModuleEstimates:
    losses = prod(broadcast_shape(*operands))
    work = Work(flops=operations * losses, dmas=elements(*operands, *weights) + losses)
    return (work + reduction_work(losses, module.reduction)).estimates(NOWHERE)


def margin_ranking(call: ModuleCall) -> ModuleEstimates:
    """Count ``max(0, -y (x1 - x2) + margin)``: five operations per element."""
    operands = [operand(call, "input1", 0), operand(call, "input2", 1), numeric(argument(call, 2, "target"), "target")]
    return _elementwise(call.module, operands, [], 5)


def poisson(call: ModuleCall) -> ModuleEstimates:
    """Count ``exp(x) - y x`` (3), or ``x - y log(x + eps)`` (4); ``full`` adds Stirling's approximation.

    ``y log y - y + 0.5 log(2 pi y)`` where y > 1, added to the loss: 2 + 1 + 3 + 1, a choice and an add.
    """
    module = module_of(call)
    operations = (3 if module.log_input else 4) + (9 if module.full else 0)
    operands = [operand(call, "log_input"), numeric(argument(call, 1, "target"), "target")]
    return _elementwise(module, operands, [], operations)


def gaussian(call: ModuleCall) -> ModuleEstimates:
    """Count ``0.5 (log v + (x - y)^2 / v)``, v = max(var, eps): 2 per variance, 5 per element, 1 more if ``full``."""
    module = module_of(call)
    source, target, variance = operand(call), numeric(argument(call, 1, "target"), "target"), argument(call, 2, "var")
    losses, variances = source.numel(), variance.numel() if isinstance(variance, Tensor) else source.numel()
    work = Work(
        flops=2 * variances + (5 + bool(module.full)) * losses, dmas=elements(source, target) + variances + losses
    )
    return (work + reduction_work(losses, module.reduction)).estimates(NOWHERE)


def _family(name: str, estimate: Formula, flops: str) -> Family:
    return Family(
        group="Losses",
        types=nn_types(name),
        estimate=estimate,
        flops=flops + "; + reduction",
        macs="0",
        dmas="operands + losses; a reduction reads the losses and writes one",
        spatial="none",
        cacheable=False,
    )


FAMILIES = (
    *(
        _family(name, pointwise(each.operations), f"{each.operations}·N: {each.formula}")
        for name, each in POINTWISE.items()
    ),
    _family("MarginRankingLoss", margin_ranking, "5·N: max(0, −y·(x1 − x2) + margin)"),
    _family("PoissonNLLLoss", poisson, "3·N: exp(x) − y·x; 4·N: x − y·log(x + ε); full + 9·N"),
    _family("GaussianNLLLoss", gaussian, "5·N + 2 per variance: 0.5·(log v + (x − y)²/v), v = max(var, ε); full + N"),
)
