"""Normalizations and softmax, equal to their two-pass algorithms written out."""

from __future__ import annotations

import pytest
import torch
from support.counting import counted, flops
from torch import Tensor, nn
from torch.nn import functional as F

N, ROWS, CHANNELS = 2 * 4 * 6, 8, 4


def normalized(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Mean, variance, eps and root, normalize: as the convention lists the steps."""
    mean = x.mean(axes, keepdim=True)
    centered = x - mean
    variance = (centered * centered).mean(axes, keepdim=True)
    return (x - mean) / (variance + 1e-5).sqrt()


def test_layer_norm_is_six_per_value_two_per_row_and_one_per_affine_tensor() -> None:
    values = torch.rand(2, 4, 6)

    assert flops(lambda: F.layer_norm(values, (6,))) == 6 * N + 2 * ROWS
    assert flops(lambda: normalized(values, (-1,))) == 6 * N + 2 * ROWS
    assert flops(lambda: nn.LayerNorm(6)(values)) == 8 * N + 2 * ROWS
    assert flops(lambda: nn.LayerNorm(6, bias=False)(values)) == 7 * N + 2 * ROWS


def test_group_and_instance_norm_count_their_groups_as_rows() -> None:
    images = torch.rand(2, 4, 6)

    assert flops(lambda: nn.GroupNorm(2, 4)(images)) == 8 * N + 2 * (2 * 2)
    assert flops(lambda: F.group_norm(images, 2)) == 6 * N + 2 * (2 * 2)
    assert flops(lambda: F.instance_norm(images)) == 6 * N + 2 * (2 * 4)


def test_rms_norm_squares_adds_and_scales() -> None:
    values = torch.rand(2, 4, 6)
    # square N, mean N, eps R, root R, scale N; and N for the weight
    assert flops(lambda: nn.RMSNorm(6, elementwise_affine=False)(values)) == 3 * N + 2 * ROWS
    assert flops(lambda: nn.RMSNorm(6)(values)) == 4 * N + 2 * ROWS


@pytest.mark.parametrize(
    ("layer", "training", "expected"),
    [
        (nn.BatchNorm1d(4), False, 4 * N + 2 * CHANNELS),
        (nn.BatchNorm1d(4, affine=False), False, 2 * N + 2 * CHANNELS),
        (nn.BatchNorm1d(4, track_running_stats=False), False, 8 * N + 2 * CHANNELS),
        (nn.BatchNorm1d(4, track_running_stats=False), True, 8 * N + 2 * CHANNELS),
        (nn.BatchNorm1d(4), True, 8 * N + 2 * CHANNELS + 8 * CHANNELS),
    ],
)
def test_batch_norm_counts_the_statistics_that_it_computes(layer: nn.Module, training: bool, expected: int) -> None:
    layer.train(training)

    assert flops(lambda: layer(torch.rand(2, 4, 6))) == expected


@pytest.mark.parametrize("training", [True, False])
def test_frozen_and_training_batch_norm_have_gradients_of_their_own(training: bool) -> None:
    layer, images = nn.BatchNorm1d(4).train(training), torch.rand(2, 4, 6, requires_grad=True)
    output = layer(images)
    backward = flops(lambda: torch.autograd.grad(output, [images, layer.weight, layer.bias], torch.ones_like(output)),
                     grad=True)  # fmt: skip

    # training: x_hat 2N, to the input 8N + 2C, to weight 2N, to bias N; frozen: root and eps 2C, 2N, 4N, N
    assert backward == (13 * N + 2 * CHANNELS if training else 7 * N + 2 * CHANNELS)


def test_layer_norm_s_gradients() -> None:
    layer, values = nn.LayerNorm(6), torch.rand(2, 4, 6, requires_grad=True)
    output = layer(values)
    backward = flops(
        lambda: torch.autograd.grad(output, [values, layer.weight, layer.bias], torch.ones_like(output)), grad=True
    )

    assert backward == 2 * N + 8 * N + 2 * ROWS + 2 * N + N


def test_softmax_is_five_per_value_less_two_per_row() -> None:
    values = torch.rand(2, 4, 6)

    assert flops(lambda: values.softmax(-1)) == ROWS * (5 * 6 - 2)
    assert flops(lambda: values.softmax(1)) == 12 * (5 * 4 - 2)
    assert flops(lambda: values.log_softmax(-1)) == ROWS * (5 * 6 - 1)
    assert flops(lambda: torch._safe_softmax(values, -1)) == ROWS * (5 * 6 - 2) + 2 * ROWS * 6
    assert flops(lambda: _written_softmax(values)) == ROWS * (5 * 6 - 2)


def _written_softmax(x: Tensor) -> Tensor:
    grown = (x - x.amax(-1, keepdim=True)).exp()
    return grown / grown.sum(-1, keepdim=True)


def test_softmax_s_gradients_equal_their_formulas_written_out() -> None:
    values, gradient = torch.rand(2, 4, 6, requires_grad=True), torch.rand(2, 4, 6)
    soft, log_soft = values.softmax(-1), values.log_softmax(-1)
    y, z = soft.detach(), log_soft.detach()

    assert flops(lambda: soft.backward(gradient), grad=True) == flops(
        lambda: y * (gradient - (gradient * y).sum(-1, keepdim=True))
    )
    values.grad = None
    assert flops(lambda: log_soft.backward(gradient), grad=True) == flops(
        lambda: gradient - z.exp() * gradient.sum(-1, keepdim=True)
    )


def test_weight_norm_equals_its_formula_written_out() -> None:
    direction, length = torch.rand(8, 3, 3, 3), torch.rand(8, 1, 1, 1)

    fused = counted(lambda: torch._weight_norm_interface(direction, length, 0)).total.flops

    assert fused == flops(lambda: direction * (length / direction.flatten(1).norm(dim=1).view(8, 1, 1, 1)))
