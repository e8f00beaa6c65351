"""Formulas against textbook algorithms in counting numbers: the values must be torch's, the counts the formula's."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.estimates import work
from support.scalars import Tally, dot, erf, exp, largest, log, log1p, pick, smallest, sqrt, tanh, total
from torch import nn

small = st.integers(1, 4)
quick = settings(max_examples=30, deadline=None)


def _sigmoid(x):
    return 1 / (1 + exp(-x))


def _elu(x, alpha):
    return pick(x.value > 0, x, alpha * (exp(x) - 1), x)


ACTIVATIONS = [
    (nn.ReLU(), lambda x: largest(x, 0)),
    (nn.ReLU6(), lambda x: smallest(largest(x, 0), 6)),
    (nn.Hardtanh(-2, 1), lambda x: smallest(largest(x, -2), 1)),
    (nn.Threshold(0.5, 9.0), lambda x: pick(x.value > 0.5, x, 9.0, x)),
    (nn.LeakyReLU(0.1), lambda x: pick(x.value > 0, x, 0.1 * x, x)),
    (nn.RReLU(0.1, 0.3), lambda x: pick(x.value > 0, x, 0.2 * x, x)),
    (nn.PReLU(init=0.25), lambda x: pick(x.value > 0, x, 0.25 * x, x)),
    (nn.Sigmoid(), _sigmoid),
    (nn.LogSigmoid(), lambda x: log(_sigmoid(x))),
    (nn.Tanh(), tanh),
    (nn.Tanhshrink(), lambda x: x - tanh(x)),
    (nn.Softsign(), lambda x: x / (1 + abs(x))),
    (nn.Softplus(2.0, 3.0), lambda x: _softplus(x, 2.0, 3.0)),
    (nn.Softshrink(0.5), lambda x: pick(x.value > 0.5, x - 0.5, pick(x.value < -0.5, x + 0.5, 0.0, x), x)),
    (nn.Hardshrink(0.5), lambda x: pick(x.value > 0.5, x, pick(x.value < -0.5, x, 0.0, x), x)),
    (nn.Hardsigmoid(), lambda x: smallest(largest(x + 3, 0), 6) / 6),
    (nn.Hardswish(), lambda x: x * smallest(largest(x + 3, 0), 6) / 6),
    (nn.SiLU(), lambda x: x * _sigmoid(x)),
    (nn.Mish(), lambda x: x * tanh(log(1 + exp(x)))),
    (nn.ELU(0.7), lambda x: _elu(x, 0.7)),
    (nn.CELU(0.7), lambda x: pick(x.value > 0, x, 0.7 * (exp(x / 0.7) - 1), x)),
    (nn.SELU(), lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772)),
    (nn.GELU(), lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
    (nn.GELU("tanh"), lambda x: 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))),
]


def _softplus(x, beta, threshold):
    scaled = beta * x
    return pick(scaled.value > threshold, x, log(1 + exp(scaled)) / beta, scaled)


@pytest.mark.parametrize(("module", "formula"), ACTIVATIONS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("value", [-1.9, -0.3, 0.2, 2.6])
def test_activations(module, formula, value):
    tally, source = Tally(), torch.tensor([value])
    result = formula(tally.number(source.item()))
    assert result.value == pytest.approx(module.eval()(source).item(), abs=1e-5)
    assert work(module, source)[0] == tally.operations


@quick
@given(batch=small, terms=small, outputs=small, bias=st.booleans())
def test_linear(batch, terms, outputs, bias):
    module, source, tally = nn.Linear(terms, outputs, bias), torch.randn(batch, terms), Tally()
    values = []
    for row in source.tolist():
        inputs = tally.numbers(row)
        for at, weights in enumerate(module.weight.tolist()):
            value = dot(inputs, tally.numbers(weights))
            values.append(value + module.bias[at].item() if bias else value)
    assert [value.value for value in values] == pytest.approx(module(source).flatten().tolist(), abs=1e-5)
    assert work(module, source)[0] == tally.operations


@quick
@given(
    groups=st.integers(1, 2),
    widths=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 2),
    dilation=st.integers(1, 2),
    padding=st.integers(0, 2),
    mode=st.sampled_from(["zeros", "circular", "reflect", "replicate"]),
)
def test_convolution(groups, widths, kernel, stride, dilation, padding, mode):
    module = nn.Conv1d(
        widths[0] * groups, widths[1] * groups, kernel, stride, padding, dilation, groups, padding_mode=mode
    )
    source, tally = torch.randn(1, widths[0] * groups, 6), Tally()
    padded = nn.functional.pad(source, (padding, padding), "constant" if mode == "zeros" else mode)[0].tolist()
    values = []
    for channel, weights in enumerate(module.weight.tolist()):
        first = channel // widths[1] * widths[0]
        for start in range(0, 6 + 2 * padding - dilation * (kernel - 1), stride):
            window = [padded[first + c][start + dilation * tap] for c in range(widths[0]) for tap in range(kernel)]
            taps = [tap for row in weights for tap in row]
            values.append(dot(tally.numbers(window), tally.numbers(taps)) + module.bias[channel].item())
    assert [value.value for value in values] == pytest.approx(module(source).flatten().tolist(), abs=1e-5)
    assert work(module, source)[0] == tally.operations


def _two_pass(row, eps):
    mean = total(row) / len(row)
    centered = [x - mean for x in row]
    variance = total([x * x for x in centered]) / len(row)
    return [x / y for x, y in zip([x - mean for x in row], [sqrt(variance + eps)] * len(row), strict=True)]


@quick
@given(rows=small, size=st.integers(2, 5))
def test_layer_norm(rows, size):
    module, source, tally = nn.LayerNorm(size, elementwise_affine=False), torch.randn(rows, size), Tally()
    values = [x.value for row in source.tolist() for x in _two_pass(tally.numbers(row), module.eps)]
    assert values == pytest.approx(module(source).flatten().tolist(), abs=1e-4)
    assert work(module, source)[0] == tally.operations


@pytest.mark.skipif(not hasattr(nn, "RMSNorm"), reason="since torch 2.4")
@quick
@given(rows=small, size=small)
def test_rms_norm(rows, size):
    module, source, tally = nn.RMSNorm(size, eps=1e-3), torch.randn(rows, size), Tally()
    values = []
    for numbers in source.tolist():
        row = tally.numbers(numbers)
        root = sqrt(total([x * x for x in row]) / size + module.eps)
        values += [(x / root * weight).value for x, weight in zip(row, module.weight.tolist(), strict=True)]
    assert values == pytest.approx(module(source).flatten().tolist(), abs=1e-4)
    assert work(module, source)[0] == tally.operations


@quick
@given(batch=small, channels=small)
def test_batch_norm_with_saved_statistics(batch, channels):
    module, source, tally = nn.BatchNorm1d(channels).eval(), torch.randn(batch, channels), Tally()
    roots = [sqrt(tally.number(1.0) + module.eps) for _ in range(channels)]
    values = []
    for row in source.tolist():
        for x, root, weight, bias in zip(
            tally.numbers(row), roots, module.weight.tolist(), module.bias.tolist(), strict=True
        ):
            values.append(((x - 0.0) / root * weight + bias).value)
    assert values == pytest.approx(module(source).flatten().tolist(), abs=1e-5)
    assert work(module, source)[0] == tally.operations


@quick
@given(rows=small, size=small, kind=st.sampled_from([nn.Softmax, nn.LogSoftmax, nn.Softmin]))
def test_softmax(rows, size, kind):
    module, source, tally = kind(-1), torch.randn(rows, size), Tally()
    values = []
    for numbers in source.tolist():
        row = tally.numbers(numbers)
        if kind is nn.Softmin:
            row = [-x for x in row]
        top = row[0]
        for x in row[1:]:
            top = largest(top, x)
        shifted = [x - top for x in row]
        below = total([exp(x) for x in shifted])
        if kind is nn.LogSoftmax:
            below = log(below)
            values += [(x - below).value for x in shifted]
        else:
            # The exponentials above are kept, so their second writing here is not counted again.
            values += [below._result(math.exp(x.value) / below.value).value for x in shifted]
    assert values == pytest.approx(module(source).flatten().tolist(), abs=1e-5)
    assert work(module, source)[0] == tally.operations


@quick
@given(size=small)
def test_local_response_norm(size):
    module, source, tally = nn.LocalResponseNorm(size, alpha=0.5, beta=0.7, k=2.0), torch.randn(1, 5, 2), Tally()
    values = []
    columns = [[source[0, channel, place].item() for channel in range(5)] for place in range(2)]
    for column in columns:
        xs = tally.numbers(column)
        squares = [x * x for x in xs]
        for at, x in enumerate(xs):
            window = squares[max(0, at - size // 2) : at + (size - 1) // 2 + 1]
            values.append((x / (0.5 / size * total(window) + 2.0) ** 0.7).value)
    expected = module(source)[0].T.flatten().tolist()
    assert values == pytest.approx(expected, abs=1e-5)
    assert work(module, source)[0] == tally.operations


LOSSES = [
    (nn.L1Loss, lambda x, y: abs(x - y)),
    (nn.MSELoss, lambda x, y: _square(x - y)),
    (nn.SmoothL1Loss, lambda x, y: _huber(abs(x - y), 1.0, lambda d: 0.5 * d * d / 1.0, lambda d: d - 0.5)),
    (nn.HuberLoss, lambda x, y: _huber(abs(x - y), 1.0, lambda d: 0.5 * d * d, lambda d: 1.0 * (d - 0.5))),
    (nn.SoftMarginLoss, lambda x, y: log1p(exp(-(y * x)))),
    (nn.HingeEmbeddingLoss, lambda x, y: pick(y.value == 1, x, largest(1.0 - x, 0), x)),
    (nn.BCELoss, lambda x, y: -(y * log(x) + (1 - y) * log(1 - x))),
    (nn.BCEWithLogitsLoss, lambda x, y: (1 - y) * x - log(_sigmoid(x))),
    (nn.KLDivLoss, lambda x, y: y * (log(y) - x)),
    (nn.PoissonNLLLoss, lambda x, y: exp(x) - y * x),
]


def _square(x):
    return x * x


def _huber(d, bound, near, far):
    return pick(d.value < bound, near(d), far(d), d)


@pytest.mark.parametrize(("kind", "formula"), LOSSES, ids=lambda each: getattr(each, "__name__", ""))
def test_losses_by_element(kind, formula):
    source, target, tally = torch.tensor([0.2, 0.7]), torch.tensor([1.0, 1.0]), Tally()
    pairs = zip(tally.numbers(source.tolist()), tally.numbers(target.tolist()), strict=True)
    losses = [formula(x, y) for x, y in pairs]
    module = kind(reduction="sum")
    assert total(losses).value == pytest.approx(module(source, target).item(), abs=1e-5)
    assert work(module, source, target)[0] == tally.operations


def test_cross_entropy_by_hand():
    # 2 rows of 3: log-softmax 2 x 14; negate 2; mean 2 (one add, one divide).
    source, target = torch.randn(2, 3), torch.tensor([0, 2])
    assert work(nn.CrossEntropyLoss(), source, target)[:2] == (28 + 2 + 2, 0)
    assert work(nn.CrossEntropyLoss(reduction="none"), source, target)[0] == 28 + 2
    # Weights: a product per row, and their sum for the mean.
    assert work(nn.CrossEntropyLoss(torch.ones(3)), source, target)[0] == 28 + 4 + 1 + 2
    # Probabilities: per row 3 products, 2 adds, a sign.
    assert work(nn.CrossEntropyLoss(), source, source.softmax(1))[0] == 28 + 12 + 2


def test_an_unbatched_row_of_classes_is_one_row():
    # One row of 3: log-softmax 14, negate, and a mean of one.
    assert work(nn.CrossEntropyLoss(), torch.randn(3), torch.tensor(1))[:2] == (14 + 1 + 1, 0)


def test_cosine_similarity_and_distances():
    tally = Tally()
    x, y = tally.numbers([1.0, 2.0, -0.5]), tally.numbers([0.3, 0.1, 2.0])
    product = dot(x, y) / (largest(sqrt(dot(x, x)), 1e-8) * largest(sqrt(dot(y, y)), 1e-8))
    first, second = torch.tensor([[1.0, 2.0, -0.5]]), torch.tensor([[0.3, 0.1, 2.0]])
    assert product.value == pytest.approx(nn.CosineSimilarity()(first, second).item(), abs=1e-6)
    assert work(nn.CosineSimilarity(), first, second)[0] == tally.operations

    tally = Tally()
    differences = [a - b + 1e-6 for a, b in zip(tally.numbers(first[0].tolist()), second[0].tolist(), strict=True)]
    distance = sqrt(dot(differences, differences))
    assert distance.value == pytest.approx(nn.PairwiseDistance()(first, second).item(), abs=1e-6)
    assert work(nn.PairwiseDistance(), first, second)[0] == tally.operations
