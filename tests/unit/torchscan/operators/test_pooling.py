"""Pooling against windows that are walked through element by element."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.counting import flops
from torch import nn
from torch.nn import functional as F

FEW = settings(max_examples=40, deadline=None)
SIZE = st.integers(4, 8)


def window_values(size: int, outputs: int, kernel: int, stride: int, padding: int, *, padded: bool) -> int:
    """Values over all windows of an axis; padding takes part or not, and nothing lies beyond the padding."""
    low, high = (-padding, size + padding) if padded else (0, size)
    return sum(
        1 for output, tap in product(range(outputs), range(kernel)) if low <= output * stride - padding + tap < high
    )


@FEW
@given(SIZE, SIZE, st.integers(1, 3), st.integers(1, 3), st.integers(0, 1), st.booleans(), st.booleans())
def test_average_pooling_adds_and_divides_its_windows(
    high: int, wide: int, kernel: int, stride: int, padding: int, ceil: bool, padded: bool
) -> None:
    assume(2 * padding <= kernel)
    images = torch.rand(2, 3, high, wide)
    pooled = F.avg_pool2d(images, kernel, stride, padding, ceil, padded)
    axes = zip((high, wide), pooled.shape[2:], strict=True)
    windows = prod(window_values(size, outputs, kernel, stride, padding, padded=padded) for size, outputs in axes)

    assert flops(lambda: F.avg_pool2d(images, kernel, stride, padding, ceil, padded)) == 6 * windows


@FEW
@given(SIZE, SIZE, st.integers(1, 3), st.integers(1, 3), st.integers(0, 1), st.booleans())
def test_max_pooling_compares_one_time_less_than_a_window_has_values(
    high: int, wide: int, kernel: int, stride: int, padding: int, ceil: bool
) -> None:
    assume(2 * padding <= kernel)
    images = torch.rand(2, 3, high, wide)
    pooled = F.max_pool2d(images, kernel, stride, padding, ceil_mode=ceil)
    axes = zip((high, wide), pooled.shape[2:], strict=True)
    windows = prod(window_values(size, outputs, kernel, stride, padding, padded=True) for size, outputs in axes)

    counted = flops(lambda: F.max_pool2d(images, kernel, stride, padding, ceil_mode=ceil))

    assert counted == 6 * windows - pooled.numel()


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (nn.AdaptiveAvgPool2d(3), (1, 1, 7, 7), 81),
        (nn.AvgPool2d(3, 2, 1, count_include_pad=False), (1, 1, 5, 5), 49),
        (nn.MaxPool2d(2), (1, 1, 4, 4), 12),
        (nn.MaxPool1d(2), (1, 1, 6), 3),
        (nn.MaxPool3d(2), (1, 1, 4, 4, 4), 8 * 7),
        (nn.AvgPool1d(3, 1), (1, 2, 5), 2 * 3 * 3),
        (nn.AdaptiveMaxPool2d(3), (1, 1, 7, 7), 72),
        (nn.AdaptiveAvgPool1d(2), (1, 1, 6), 6),
        (nn.AdaptiveAvgPool3d(1), (1, 2, 2, 3, 4), 2 * 24),
        (nn.FractionalMaxPool2d(2, output_size=3), (1, 1, 7, 7), 9 * 3),
        (nn.MaxPool2d(2), (1, 4, 4), 12),
    ],
)
def test_layers_of_worked_numbers(layer: nn.Module, shape: tuple[int, ...], expected: int) -> None:
    assert flops(lambda: layer(torch.rand(shape))) == expected


def test_adaptive_pooling_to_one_value_is_a_mean() -> None:
    # two axes, 3 x 5: 14 adds and a division; PyTorch runs it as a mean
    assert flops(lambda: F.adaptive_avg_pool2d(torch.rand(2, 1, 3, 5), 1)) == 2 * 15


def test_gradients_spread_over_the_windows() -> None:
    images = torch.rand(1, 1, 4, 4, requires_grad=True)
    average, largest = F.avg_pool2d(images, 2), F.max_pool2d(images, 2)

    # 4 divisions, 16 adds; and one routed add for each of 4 maxima
    assert flops(lambda: torch.autograd.grad(average, images, torch.ones(1, 1, 2, 2)), grad=True) == 20
    assert flops(lambda: torch.autograd.grad(largest, images, torch.ones(1, 1, 2, 2)), grad=True) == 4
