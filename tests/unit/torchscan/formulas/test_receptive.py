"""Receptive fields against gradients: which inputs really reach an output, and from where."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.estimates import field
from torch import nn

from torchscan.formulas.receptive import POINT, Field, compose

quick = settings(max_examples=40, deadline=None)
LENGTH = 64


def _reached(module, output):
    """Give the first and last input element that the gradient of one output reaches."""
    for parameter in module.parameters():
        nn.init.ones_(parameter)
    source = torch.arange(1.0, LENGTH + 1).view(1, 1, LENGTH).requires_grad_()
    module(source)[0, 0, output].backward()
    touched = source.grad[0, 0].nonzero().flatten().tolist()
    return touched[0], touched[-1]


def _check(module, expected):
    count = module(torch.ones(1, 1, LENGTH)).shape[-1]
    assume(count >= 4)
    at = count // 2
    (first, last), (following, _) = _reached(module, at), _reached(module, at + 1)
    assert (last - first + 1, following - first) == expected[:2]
    assert at * expected.stride - expected.padding == first


kernels, strides, dilations, paddings = st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 3)


@quick
@given(kernels, strides, paddings, dilations)
def test_convolution(kernel, stride, padding, dilation):
    module = nn.Conv1d(1, 1, kernel, stride, padding, dilation)
    _check(module, field(module, torch.ones(1, 1, LENGTH)))


@quick
@given(kernels, dilations)
def test_same_padding(kernel, dilation):
    assume(dilation * (kernel - 1) % 2 == 0)  # an odd reach warns of a copy
    module = nn.Conv1d(1, 1, kernel, padding="same", dilation=dilation)
    _check(module, field(module, torch.ones(1, 1, LENGTH)))


@quick
@given(kernels, paddings, dilations)
def test_transposed_convolution_of_stride_one(kernel, padding, dilation):
    module = nn.ConvTranspose1d(1, 1, kernel, 1, padding, dilation=dilation)
    _check(module, field(module, torch.ones(1, 1, LENGTH)))


@quick
@given(kernels, strides, st.integers(0, 2))
def test_average_pooling(kernel, stride, padding):
    assume(2 * padding <= kernel)
    module = nn.AvgPool1d(kernel, stride, padding)
    _check(module, field(module, torch.ones(1, 1, LENGTH)))


@quick
@given(st.sampled_from([4, 8, 16, 32]))
def test_adaptive_pooling_into_equal_windows(outputs):
    module = nn.AdaptiveAvgPool1d(outputs)
    _check(module, field(module, torch.ones(1, 1, LENGTH)))


@quick
@given(st.lists(st.tuples(kernels, st.integers(1, 2), st.integers(0, 1)), min_size=1, max_size=3))
def test_chains_compose(settings_of_layers):
    layers = [nn.Conv1d(1, 1, *setting) for setting in settings_of_layers]
    chained = POINT
    for layer in layers:
        chained = compose(chained, field(layer, torch.ones(1, 1, LENGTH)))
    _check(nn.Sequential(*layers), chained)


@pytest.mark.parametrize(
    ("module", "shape", "expected"),
    [
        (nn.Conv2d(1, 1, 3, 2, 1), (1, 1, 8, 8), Field(3, 2, 1)),
        (nn.Conv2d(1, 1, (1, 3)), (1, 1, 8, 8), None),
        (nn.ConvTranspose2d(1, 1, 2, 2), (1, 1, 4, 4), None),
        (nn.AdaptiveAvgPool2d(1), (1, 1, 7, 7), Field(7, 7, 0)),
        (nn.AdaptiveAvgPool2d(3), (1, 1, 7, 7), None),
        (nn.ReLU(), (1, 1, 7, 7), POINT),
        (nn.BatchNorm2d(1), (1, 1, 7, 7), POINT),
        (nn.GroupNorm(1, 2), (1, 2, 7, 7), None),
        (nn.Softmax(1), (1, 2, 7, 7), POINT),
        (nn.Softmax(-1), (1, 2, 7, 7), None),
        (nn.Softmax(1), (1, 2, 7), None),
        (nn.GLU(1), (1, 2, 7, 7), POINT),
        (nn.ZeroPad2d(2), (1, 2, 7, 7), Field(1, 1, 2)),
        (nn.Upsample(scale_factor=2), (1, 2, 7, 7), None),
        (nn.Linear(7, 2), (1, 7), None),
        (nn.Flatten(), (1, 2, 7), None),
    ],
)
def test_fields_by_hand(module, shape, expected):
    assert field(module, torch.ones(shape)) == expected
