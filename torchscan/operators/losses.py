"""Losses: operations per element, then the reduction: none 0, mean N (N - 1 adds, one division), sum N - 1."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from torchscan.operators.call import Call, elements
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "losses"

_NONE, _MEAN, _SUM = 0, 1, 2


def reduced(count: int, reduction: int) -> int:
    """Operations that reduce ``count`` losses."""
    return {_NONE: 0, _MEAN: count, _SUM: max(count - 1, 0)}[reduction]


def _pointwise(operations: int, place: int, weights: tuple[int, ...] = ()) -> Cost:
    """``operations`` per element, one product more for each weight tensor given."""

    def cost(call: Call) -> int:
        count = elements(call.args[0])
        given = sum(call.has(index) for index in weights)
        return (operations + given) * count + reduced(count, call.named(place, "reduction", _MEAN))

    return cost


def _backward(operations: int, place: int, weights: tuple[int, ...] = ()) -> Cost:
    """``operations`` per element of the input's gradient; a mean scales it once more."""

    def cost(call: Call) -> int:
        count = elements(call.args[1])
        given = sum(call.has(index) for index in weights)
        is_mean = bool(call.named(place, "reduction", _MEAN) == _MEAN)
        return (operations + given + is_mean) * count

    return cost


def _negative_log(call: Call) -> int:
    """``(log_probabilities, target, weight, reduction, ignore)``: negate each picked value, weigh it; a weighted mean
    also adds the weights up."""
    count = elements(call.args[1])
    weighted = call.has(2)
    reduction = call.integer(3, _MEAN)
    total = max(count - 1, 0) if weighted and reduction == _MEAN else 0
    return (1 + weighted) * count + reduced(count, reduction) + total


def _negative_log_backward(call: Call) -> int:
    """``(gradient, input, target, weight, reduction, ...)``: one negated value per target; weigh, divide for a mean."""
    return (1 + call.has(3) + (call.integer(4, _MEAN) == _MEAN)) * elements(call.args[2])


def _margins(place: int) -> Cost:
    """Every class against the target's: subtract, add the margin, compare, add; a square and a weight more."""

    def cost(call: Call) -> int:
        count = elements(call.args[0])
        samples = elements(call.args[1])
        return 4 * count + reduced(samples, call.named(place, "reduction", _MEAN))

    return cost


def _multi_margin(call: Call) -> int:
    """``(input, target, p, margin, weight, reduction)``."""
    extra = (call.integer(2, 1) == 2) + call.has(4)
    samples = elements(call.args[1])
    return (4 + extra) * elements(call.args[0]) + reduced(samples, call.at(5, _MEAN))


def _lengths(value: Any) -> list[int]:
    return value.tolist() if isinstance(value, Tensor) else list(value)


# One cell of the lattice: log-sum-exp of three (two comparisons, three subtractions, three exponentials, two adds, a
# logarithm, an add) and the emission: 13.
_CTC_CELL = 13


def _ctc_cells(inputs: Any, targets: Any) -> int:
    return sum(steps * (2 * labels + 1) for steps, labels in zip(_lengths(inputs), _lengths(targets), strict=True))


def _ctc(call: Call) -> int:
    """``(log_probs, targets, input_lengths, target_lengths, ...)``: T (2L + 1) cells for each sequence."""
    return _CTC_CELL * _ctc_cells(call.args[2], call.args[3])


def _ctc_backward(call: Call) -> int:
    """``(gradient, log_probs, targets, input_lengths, target_lengths, ...)``: the backward lattice, the sum of both for
    each cell (6: log-add of two), and exponential, subtract, scale for each input value."""
    return (_CTC_CELL + 6) * _ctc_cells(call.args[3], call.args[4]) + 4 * elements(call.args[1])


def _row(text: str, cost: Cost) -> Formula:
    return Formula(FAMILY, text, cost)


_REDUCED = ", then the reduction"

ROWS: dict[str, Row] = {
    "aten.mse_loss": _row(f"2N: subtract, square{_REDUCED}", _pointwise(2, 2)),
    # difference, magnitude, compare; 0.5 d d / beta and d - 0.5 beta by cases: the quadratic branch's 3, a selection.
    "aten.smooth_l1_loss": _row(f"7N{_REDUCED}", _pointwise(7, 2)),
    "aten.huber_loss": _row(f"7N{_REDUCED}", _pointwise(7, 2)),
    # -(t log x + (1 - t) log(1 - x)): two logarithms, two subtractions from 1, two products, add, negate.
    "aten.binary_cross_entropy": _row(f"8N, + N weighted{_REDUCED}", _pointwise(8, 3, (2,))),
    # (1 - t) x - log(sigmoid x): subtract, multiply, 5 for the log-sigmoid, subtract.
    "aten.binary_cross_entropy_with_logits": _row(f"8N, + N per weight{_REDUCED}", _pointwise(8, 4, (2, 3))),
    # log1p(exp(-t x)): multiply, negate, exponential, log1p.
    "aten.soft_margin_loss": _row(f"4N{_REDUCED}", _pointwise(4, 2)),
    "aten.nll_loss_forward": _row(f"1 per target, + 1 weighted{_REDUCED}", _negative_log),
    "aten.nll_loss2d_forward": _row(f"1 per target, + 1 weighted{_REDUCED}", _negative_log),
    "aten.multi_margin_loss": _row(f"4N, + N squared, + N weighted{_REDUCED}", _multi_margin),
    "aten.multilabel_margin_loss_forward": _row(f"4N{_REDUCED}", _margins(2)),
    "aten._ctc_loss": _row("13 per lattice cell, T(2L + 1) of them", _ctc),
    "aten._cudnn_ctc_loss": _row("13 per lattice cell, T(2L + 1) of them", _ctc),
    "aten.mse_loss_backward": _row("3N, + N for a mean", _backward(3, 3)),
    "aten.smooth_l1_loss_backward": _row("5N, + N for a mean", _backward(5, 3)),
    "aten.huber_loss_backward": _row("5N, + N for a mean", _backward(5, 3)),
    # g (x - t) / (x (1 - x)): two subtractions, two products, a division.
    "aten.binary_cross_entropy_backward": _row("5N, + N weighted, + N for a mean", _backward(5, 4, (3,))),
    "aten.soft_margin_loss_backward": _row("6N, + N for a mean", _backward(6, 3)),
    "aten.nll_loss_backward": _row("1 per target, + 1 weighted, + 1 for a mean", _negative_log_backward),
    "aten.nll_loss2d_backward": _row("1 per target, + 1 weighted, + 1 for a mean", _negative_log_backward),
    "aten.multi_margin_loss_backward": _row("4N, + N for a mean", _backward(4, 6)),
    "aten.multilabel_margin_loss_backward": _row("4N, + N for a mean", _backward(4, 3)),
    "aten._ctc_loss_backward": _row("19 per lattice cell, 4 per input value", _ctc_backward),
}
