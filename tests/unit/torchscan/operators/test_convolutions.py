"""Convolutions against a loop over every multiplication of the dense algorithm."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.counting import counted, flops, macs
from torch import nn

FEW = settings(max_examples=30, deadline=None)
SMALL = st.integers(1, 3)


def dense_multiplications(layer: Any, source: torch.Tensor, target: torch.Tensor) -> int:
    """Each output (input, when transposed) position of each sample: every channel pair of a group, every tap."""
    positions = (source if layer.transposed else target).shape[2:]
    pairs = (layer.in_channels // layer.groups) * (layer.out_channels // layer.groups) * layer.groups
    return sum(
        1 for _ in product(range(source.shape[0]), *map(range, positions), range(pairs), *map(range, layer.kernel_size))
    )


@FEW
@given(st.sampled_from((1, 2)), SMALL, SMALL, st.sampled_from((1, 2)), SMALL, SMALL, st.booleans(), st.booleans())
def test_forward_and_gradients_take_one_multiplication_per_tap(
    axes: int, inputs: int, outputs: int, groups: int, kernel: int, stride: int, transposed: bool, bias: bool
) -> None:
    kind = [nn.Conv1d, nn.Conv2d, nn.ConvTranspose1d, nn.ConvTranspose2d][axes - 1 + 2 * transposed]
    layer = kind(inputs * groups, outputs * groups, kernel, stride=stride, groups=groups, bias=bias)
    source = torch.randn(2, inputs * groups, *[5] * axes, requires_grad=True)
    with torch.no_grad():
        expected = dense_multiplications(layer, source, layer(source))

    assert macs(lambda: layer(source)) == expected
    output = layer(source)
    assert macs(lambda: output.backward(torch.ones_like(output)), grad=True) == 2 * expected


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (nn.ConvTranspose2d(6, 4, 3, stride=2, bias=False), (1, 6, 5, 5), 5_400),
        (nn.ConvTranspose2d(4, 4, 3, stride=2, groups=4, bias=False), (1, 4, 5, 5), 900),
        (nn.Conv2d(3, 8, 3, bias=False), (3, 6, 6), 3_456),
        (nn.ConvTranspose2d(32, 1, 3), (1, 32, 1, 1), 288),
        (nn.ConvTranspose2d(3, 1, 2, stride=2), (1, 3, 2, 2), 48),
        (nn.ConvTranspose2d(6, 6, 2, stride=2, groups=3), (2, 6, 8, 8), 6_144),
        (nn.Conv2d(3, 8, 3, stride=2, bias=False), (1, 3, 9, 9), 3_456),
        (nn.Conv2d(3, 8, 3, padding="same", dilation=2), (1, 3, 7, 7), 10_584),
        (nn.Conv2d(3, 8, 3), (1, 3, 32, 32), 194_400),
        (nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, groups=2), (2, 4, 3), 216),
        (nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 8, 3)), (1, 3, 6, 6), 3_456),
    ],
)
def test_layers_of_the_cases(layer: nn.Module, shape: tuple[int, ...], expected: int) -> None:
    assert macs(lambda: layer(torch.zeros(shape))) == expected


@pytest.mark.parametrize("formulas", ["native", "extended"])
@pytest.mark.parametrize(("wants_input", "expected"), [(True, 6_912), (False, 4_608)])
def test_a_grouped_weight_gradient_is_divided_by_its_groups(formulas: str, wants_input: bool, expected: int) -> None:
    layer = nn.Conv2d(8, 8, 3, groups=8, bias=False)
    images, gradient = torch.zeros(1, 8, 6, 6, requires_grad=wants_input), torch.ones(1, 8, 4, 4)

    assert flops(lambda: layer(images).backward(gradient), grad=True, formulas=formulas) == expected


def test_transposed_convolutions_stay_linear_in_their_calls() -> None:
    with torch.device("meta"):
        layer, images = nn.ConvTranspose2d(192, 384, 2, stride=2), torch.empty(6, 192, 30, 96)

    assert flops(lambda: layer(images)) == 10_192_158_720
    assert flops(lambda: [layer(images) for _ in range(3)]) == 3 * 10_192_158_720


def test_lazy_convolutions_count_once_they_know_their_shape() -> None:
    layer = nn.LazyConv2d(8, 3)

    counter = counted(lambda: layer(torch.zeros(1, 3, 6, 6)))

    assert counter.total.macs == 3_456
