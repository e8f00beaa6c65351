"""Losses of classes, labels and sequences: work per row of S classes, then the reduction of R rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from torchscan.formulas.family import REAL, Family, Formula, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.losses import reduction_work
from torchscan.formulas.operands import FLOATING, argument, elements, known_values, module_of, numeric, operand
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.softmax import log_softmax_dmas, log_softmax_flops
from torchscan.formulas.work import NOTHING, Work, product


def _classes(source: Tensor) -> tuple[int, int]:
    """Give (rows, classes): classes lie along axis 1, or along the only one."""
    size = source.shape[1] if source.dim() > 1 else source.shape[0]
    return source.numel() // max(size, 1), size


def _picked(module: Any, rows: int) -> Work:
    """Count the picked value of each row: negate, weigh; a weighted mean also adds the weights up."""
    weighted = module.weight is not None
    summed = max(rows - 1, 0) if weighted and module.reduction == "mean" else 0
    picking = Work(flops=rows * (1 + weighted) + summed, dmas=rows * (3 + weighted))  # target, value, loss
    return picking + reduction_work(rows, module.reduction)


def nll(call: ModuleCall) -> ModuleEstimates:
    """Count the negative log-likelihood of given log-probabilities; an ignored target counts like any other."""
    rows, _ = _classes(operand(call))
    return _picked(call.module, rows).estimates(NOWHERE)


def cross_entropy(call: ModuleCall) -> ModuleEstimates:
    """Count a log-softmax and the picked value of each row, or the sum over classes of target probabilities."""
    source, target = operand(call), numeric(argument(call, 1, "target"), "target")
    return _cross_entropy_work(call.module, *_classes(source), target).estimates(NOWHERE)


def _cross_entropy_work(module: Any, rows: int, size: int, target: Tensor) -> Work:
    values, weighted = rows * size, module.weight is not None
    work = Work(flops=log_softmax_flops(rows, size), dmas=log_softmax_dmas(rows, size))
    if target.dtype in FLOATING:
        # Per class a product with its probability (and its weight), the sum, the sign; smoothing mixes in a constant.
        smoothed = 2 * values if module.label_smoothing else 0
        summed = values * (1 + weighted) + max(values - rows, 0) + rows
        return work + Work(smoothed + summed, dmas=2 * values + rows) + reduction_work(rows, module.reduction)
    work += _picked(module, rows)
    if module.label_smoothing:
        # The mean log-probability of all classes: (weights,) sum and sign per row, then a mix of two scaled terms.
        mixed = rows if module.reduction == "none" else 1
        smoothing = Work(values * weighted + max(values - rows, 0) + rows + 3 * mixed, dmas=values + rows + 3 * mixed)
        work += smoothing + reduction_work(rows, module.reduction)
    return work


def linear_cross_entropy(call: ModuleCall) -> ModuleEstimates:
    """Count a Linear to the logits and their cross entropy; the module computes both itself."""
    module = module_of(call)
    source, target, linear = operand(call), numeric(argument(call, 1, "target"), "target"), module.linear
    batch = source.numel() // max(source.shape[-1], 1)
    logits = batch * linear.weight.shape[0]
    work = product(logits, linear.weight.shape[1], linear.bias is not None)
    work += Work(dmas=source.numel() + elements(linear.weight, linear.bias) + logits)
    rows = logits // module.num_classes
    return (work + _cross_entropy_work(module, rows, module.num_classes, target)).estimates(NOWHERE)


def _rows_of(per_row: Callable[[Any, int], int]) -> Formula:
    """Give the formula of a loss that takes ``per_row(module, S)`` operations for each row of S classes."""

    def estimate(call: ModuleCall) -> ModuleEstimates:
        source, target, module = operand(call), numeric(argument(call, 1, "target"), "target"), module_of(call)
        size = source.shape[-1] if source.dim() else 1
        rows = source.numel() // max(size, 1)
        weight: Tensor | None = getattr(module, "weight", None)
        work = Work(flops=rows * per_row(module, size), dmas=elements(source, target, weight) + rows)
        return (work + reduction_work(rows, module.reduction)).estimates(NOWHERE)

    return estimate


def _multi_margin(module: Any, size: int) -> int:
    """Count margin - x_y once; per other class add, max (, square) (, weigh); their sum; divide by S."""
    each: int = 2 + (module.p == 2) + (module.weight is not None)
    return 1 + each * (size - 1) + max(size - 2, 0) + 1


def _multilabel_soft_margin(module: Any, size: int) -> int:
    """Count ``-(y log s(x) + (1 - y) log s(-x))`` by class (5 per log-sigmoid and 6), a weight, and the mean of S."""
    each: int = 16 + (module.weight is not None)
    return each * size + size


def multilabel_margin(call: ModuleCall) -> ModuleEstimates:
    """Count, for L labels of S classes, 1 - x_y per label; add, max and sum for L (S - L) pairs; divide by S."""
    source, target, module = operand(call), numeric(argument(call, 1, "target"), "target"), module_of(call)
    size = source.shape[-1] if source.dim() else 1
    labels = known_values(target, "target")
    rows = [_before_end(labels[start : start + size]) for start in range(0, len(labels), max(size, 1))]
    flops = sum(count + max(3 * count * (size - count) - 1, 0) + 1 for count in rows)
    work = Work(flops=flops, dmas=elements(source, target) + len(rows))
    return (work + reduction_work(len(rows), module.reduction)).estimates(NOWHERE)


def _before_end(labels: list[int]) -> int:
    """Count the labels before the first negative one, which ends the list."""
    return next((at for at, label in enumerate(labels) if label < 0), len(labels))


_CTC_CELL = 13
"""log-sum-exp of three states (2 comparisons, 3 subtractions, 3 exp, 2 adds, log, add) and the emission's add."""


def ctc(call: ModuleCall) -> ModuleEstimates:
    """Count T (2L + 1) lattice cells for T steps and L labels; a mean first divides each loss by its label count."""
    operand(call, "log_probs")
    module = module_of(call)
    steps = known_values(argument(call, 2, "input_lengths"), "input_lengths")
    labels = known_values(argument(call, 3, "target_lengths"), "target_lengths")
    cells = sum(each * (2 * count + 1) for each, count in zip(steps, labels, strict=True))
    divided = len(steps) if module.reduction == "mean" else 0
    work = Work(flops=_CTC_CELL * cells + divided, dmas=5 * cells + len(steps) + 3 * divided)
    return (work + reduction_work(len(steps), module.reduction)).estimates(NOWHERE)


def adaptive_log_softmax(call: ModuleCall) -> ModuleEstimates:
    """Count the module's own work: log-softmax of the head and of each cluster's rows, one add per row, minus the mean.

    The products are those of its Linear modules, which are calls of their own. A target decides its row's cluster.
    """
    module = module_of(call)
    operand(call, "input_")
    targets = known_values(argument(call, 1, "target_"), "target_")
    rows, work = len(targets), NOTHING
    bounds = list(zip(module.cutoffs[:-1], module.cutoffs[1:], strict=True))
    sizes = [(rows, module.head_size)]
    sizes += [(sum(low <= target < high for target in targets), high - low) for low, high in bounds]
    for count, size in sizes:
        work += Work(flops=log_softmax_flops(count, size), dmas=log_softmax_dmas(count, size) + 3 * count)
    return (work + Work(flops=2 * rows, dmas=4 * rows) + reduction_work(rows, "mean")).estimates(NOWHERE)


def _family(names: tuple[str, ...], estimate: Formula, flops: str, **words: str) -> Family:
    return Family(
        group="Losses",
        types=nn_types(*names),
        estimate=estimate,
        flops=flops,
        macs=words.get("macs", "0"),
        dmas=words.get("dmas", "operands + losses; a reduction reads the losses and writes one"),
        spatial="none",
        boundary=words.get("boundary", REAL),
        cacheable=False,
    )


_SOFTMAX_DMAS = "log-softmax 8·R·S + 6·R; target, picked value and loss of each row; reduction"

FAMILIES = (
    _family(
        ("NLLLoss", "NLLLoss2d"),
        nll,
        "R rows: negate, + R with a weight (a weighted mean sums the weights, R − 1); + reduction",
        dmas="3·R, + R with a weight; reduction",
    ),
    _family(
        ("CrossEntropyLoss",),
        cross_entropy,
        "R·(5·S − 1) + NLLLoss; probabilities 2·S per row instead (+ S weighted, + 2·S smoothed); "
        "label smoothing S per row + 3 + a second reduction",
        dmas=_SOFTMAX_DMAS,
    ),
    _family(
        ("LinearCrossEntropyLoss",),
        linear_cross_entropy,
        "Linear to the logits + CrossEntropyLoss",
        macs="logits × in",
        dmas="input + parameters + logits; " + _SOFTMAX_DMAS,
    ),
    _family(("MultiMarginLoss",), _rows_of(_multi_margin), "per row 3·S − 2, + S − 1 for p = 2, + S − 1 weighted"),
    _family(("MultiLabelSoftMarginLoss",), _rows_of(_multilabel_soft_margin), "per row 17·S, + S weighted"),
    _family(
        ("MultiLabelMarginLoss",),
        multilabel_margin,
        "per row with L labels L + 3·L·(S − L)",
        boundary="real dense floating tensors; targets with known values",
    ),
    _family(
        ("CTCLoss",),
        ctc,
        "13 per lattice cell, T·(2·L + 1) cells per sequence; a mean + 1 per sequence; + reduction",
        dmas="5 per lattice cell, losses, reduction",
        boundary="real dense floating tensors; lengths with known values",
    ),
    _family(
        ("AdaptiveLogSoftmaxWithLoss",),
        adaptive_log_softmax,
        "log-softmax of the head over all rows and of each cluster over its rows, 3 per row; its Linears count apart",
        dmas="log-softmax, 3 per row of each, 5 per row and 1",
        boundary="real dense floating tensors; targets with known values",
    ),
)
