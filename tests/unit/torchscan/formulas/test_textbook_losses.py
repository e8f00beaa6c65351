"""Losses of rows and sequences against textbook algorithms in counting numbers, with torch's values as a check."""

from __future__ import annotations

import math

import pytest
import torch
from support.estimates import called, work
from support.scalars import Tally, dot, exp, largest, log, log1p, sqrt, total
from torch import nn

from torchscan.formulas.handler import ModuleCall, UnsupportedCall
from torchscan.formulas.table import handler_for

SOURCE = torch.tensor([[0.2, -0.4, 1.3, 0.7], [1.1, 0.3, -0.8, 0.1]])


def _matches(tally, losses, module, *inputs):
    """Sum the losses of the rows, and hold value and count against module and formula."""
    result = total(losses)
    assert result.value == pytest.approx(module(*inputs).item(), abs=1e-5)
    assert work(module, *inputs)[:2] == (tally.operations, 0)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 1.0, 2.0, 1.0])])
def test_multi_margin(power, weight):
    tally, target, losses = Tally(), torch.tensor([2, 0]), []
    for values, wanted in zip(SOURCE.tolist(), target.tolist(), strict=True):
        row = tally.numbers(values)
        gap = 1.0 - row[wanted]
        terms = [largest(gap + x, 0) for at, x in enumerate(row) if at != wanted]
        terms = [x * x for x in terms] if power == 2 else terms
        terms = terms if weight is None else [weight[wanted].item() * x for x in terms]
        losses.append(total(terms) / 4)
    _matches(tally, losses, nn.MultiMarginLoss(power, weight=weight, reduction="sum"), SOURCE, target)


def _log_sigmoid(x):
    return log(1 / (1 + exp(-x)))


def test_multilabel_soft_margin():
    tally, target, losses = Tally(), torch.tensor([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]]), []
    for values, wanted in zip(SOURCE.tolist(), target.tolist(), strict=True):
        pairs = zip(tally.numbers(values), tally.numbers(wanted), strict=True)
        losses.append(total([-(y * _log_sigmoid(x) + (1 - y) * _log_sigmoid(-x)) for x, y in pairs]) / 4)
    _matches(tally, losses, nn.MultiLabelSoftMarginLoss(reduction="sum"), SOURCE, target)


def test_multilabel_margin():
    tally, target, losses = Tally(), torch.tensor([[2, 0, -1, 1], [3, -1, 0, 0]]), []
    for values, labels in zip(SOURCE.tolist(), [[2, 0], [3]], strict=True):
        row = tally.numbers(values)
        gaps = [1.0 - row[label] for label in labels]
        terms = [largest(gap + x, 0) for gap in gaps for at, x in enumerate(row) if at not in labels]
        losses.append(total(terms) / 4)
    _matches(tally, losses, nn.MultiLabelMarginLoss(reduction="sum"), SOURCE, target)


@pytest.mark.parametrize("full", [False, True])
def test_gaussian_likelihood(full):
    tally, target, variance, losses = Tally(), SOURCE.flip(0), torch.tensor([[0.5], [2.0]]), []
    for values, wanted, spread in zip(SOURCE.tolist(), target.tolist(), variance.flatten().tolist(), strict=True):
        known = largest(tally.number(spread), 1e-6)
        size = log(known)
        for x, y in zip(tally.numbers(values), wanted, strict=True):
            difference = x - y
            loss = 0.5 * (size + difference * difference / known)
            losses.append(loss + 0.5 * math.log(2 * math.pi) if full else loss)
    _matches(tally, losses, nn.GaussianNLLLoss(full=full, reduction="sum"), SOURCE, target, variance)


def test_poisson_likelihood_with_its_approximation():
    tally, target, losses = Tally(), torch.tensor([[3.0, 2.0, 4.0, 5.0]] * 2), []
    for x, y in zip(tally.numbers(SOURCE.flatten().tolist()), tally.numbers(target.flatten().tolist()), strict=True):
        approximation = y * log(y) - y + 0.5 * log(2 * math.pi * y)
        losses.append(exp(x) - y * x + approximation._result(approximation.value))  # where y > 1
    _matches(tally, losses, nn.PoissonNLLLoss(full=True, reduction="sum"), SOURCE, target)


def _distance(x, y):
    differences = [a - b + 1e-6 for a, b in zip(x, y, strict=True)]
    return sqrt(dot(differences, differences))


@pytest.mark.parametrize("kind", [nn.TripletMarginLoss, nn.TripletMarginWithDistanceLoss])
@pytest.mark.parametrize("swap", [False, True])
def test_triplet_margin(kind, swap):
    tally, losses = Tally(), []
    anchor, positive, negative = SOURCE, SOURCE.roll(1, 1), SOURCE.flip(1)
    for rows in zip(anchor.tolist(), positive.tolist(), negative.tolist(), strict=True):
        a, p, n = (tally.numbers(row) for row in rows)
        near, far = _distance(a, p), _distance(a, n)
        if swap:
            other = _distance(p, n)
            far = far._result(min(far.value, other.value))
        losses.append(largest(near - far + 1.0, 0))
    _matches(tally, losses, kind(swap=swap, reduction="sum"), anchor, positive, negative)


def test_a_callers_distance_is_refused():
    module = nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(1))
    with pytest.raises(UnsupportedCall, match="the caller's function"):
        handler_for(type(module), {}).handler.estimate(called(module, SOURCE, SOURCE, SOURCE))


def test_cosine_embedding_by_hand():
    # Two rows of 4: the cosine is 6 x 4 + 3, the loss 4 more, and the sum of two losses is one add.
    assert work(nn.CosineEmbeddingLoss(reduction="sum"), SOURCE, SOURCE, torch.tensor([1, -1]))[0] == 2 * (27 + 4) + 1


def test_ctc_by_hand():
    # 6 x (2 x 3 + 1) + 5 x (2 x 2 + 1) cells of 13; a mean divides two losses by their lengths, adds and divides.
    log_probabilities, labels = torch.rand(6, 2, 5).log_softmax(2), torch.ones(2, 3).long()
    inputs = (log_probabilities, labels, (6, 5), (3, 2))
    assert work(nn.CTCLoss(reduction="none"), *inputs)[0] == 13 * (42 + 25)
    assert work(nn.CTCLoss(), *inputs)[0] == 13 * 67 + 2 + 2
    with torch.device("meta"):
        lengths = torch.ones(2).long()
    call = ModuleCall(nn.CTCLoss(), (log_probabilities, labels, lengths, lengths), {}, torch.ones(()))
    with pytest.raises(UnsupportedCall, match="input_lengths"):
        handler_for(nn.CTCLoss, {}).handler.estimate(call)


def test_label_smoothing_by_hand():
    # Rows of 4: log-softmax 2 x 19, pick 2; per row 3 adds and a sign; the two sums are scaled and added.
    module = nn.CrossEntropyLoss(label_smoothing=0.1, reduction="sum")
    assert work(module, SOURCE, torch.tensor([0, 1]))[0] == 38 + 2 + 1 + 8 + 1 + 3


def test_linear_cross_entropy_is_its_two_parts():
    kind = getattr(nn, "LinearCrossEntropyLoss", None)
    if kind is None:
        pytest.skip("newer torch only")
    target, module = torch.tensor([0, 2]), kind(4, 3)
    linear, loss = work(nn.Linear(4, 3, bias=False), SOURCE), work(nn.CrossEntropyLoss(), torch.rand(2, 3), target)
    assert work(module, SOURCE, target) == tuple(a + b for a, b in zip(linear, loss, strict=True))


def test_adaptive_log_softmax_by_hand():
    # Head of 2 + 2 classes over 3 rows (3 x 19), one row in each cluster of 2 (9 each), 3 adds, 3 signs, a mean of 3.
    module = nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2, 4], 2.0)
    assert work(module, torch.rand(3, 4), torch.tensor([0, 3, 5]))[:2] == (57 + 18 + 9, 0)


def test_weighted_binary_losses_add_a_product_each():
    target = torch.ones(2, 4)
    plain = work(nn.BCEWithLogitsLoss(), SOURCE, target)[0]
    assert plain == 8 * 8 + 8
    assert work(nn.BCEWithLogitsLoss(torch.ones(4), pos_weight=torch.ones(4)), SOURCE, target)[0] == plain + 16


def test_log1p_is_one_operation():
    tally = Tally()
    assert log1p(tally.number(1.0)).value == pytest.approx(math.log(2))
    assert tally.operations == 1
