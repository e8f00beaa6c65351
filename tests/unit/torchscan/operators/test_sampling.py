"""Interpolation, grids and accumulation by index."""

from __future__ import annotations

import pytest
import torch
from support.counting import counted, flops, macs
from torch import nn
from torch.nn import functional as F

BLEND = 3  # w0 a + w1 b


@pytest.mark.parametrize(
    ("shape", "mode", "per_output"),
    [
        ((2, 3, 8), "nearest", 0),
        ((2, 3, 8), "linear", BLEND),
        ((2, 3, 8, 8), "nearest", 0),
        ((2, 3, 8, 8), "nearest-exact", 0),
        ((2, 3, 8, 8), "bilinear", 3 * BLEND),
        ((2, 3, 8, 8), "bicubic", 5 * 7),
        ((2, 3, 4, 4, 4), "trilinear", 7 * BLEND),
    ],
)
def test_interpolation_blends_two_values_per_axis(shape: tuple[int, ...], mode: str, per_output: int) -> None:
    values = torch.rand(shape)
    outputs = F.interpolate(values, scale_factor=2, mode=mode).numel()
    size = [2 * length for length in shape[2:]]

    assert flops(lambda: F.interpolate(values, scale_factor=2, mode=mode)) == per_output * outputs
    assert flops(lambda: F.interpolate(values, size=size, mode=mode)) == per_output * outputs
    assert flops(torch.inference_mode()(lambda: F.interpolate(values, scale_factor=2, mode=mode))) == (
        per_output * outputs
    )


def test_antialiased_halving_sums_four_taps_per_axis_but_three_at_the_edges() -> None:
    # 8 -> 4 by a filter of support 2: windows [0,3), [1,5), [3,7), [5,8) hold 3, 4, 4 and 3 values
    taps, outputs = 3 + 4 + 4 + 3, 4
    rows, columns = 8 * (2 * taps - outputs), 4 * (2 * taps - outputs)

    assert flops(lambda: F.interpolate(torch.rand(1, 2, 8, 8), size=4, mode="bilinear", antialias=True)) == 2 * (
        rows + columns
    )


def test_grid_sampling_works_per_point_and_per_value() -> None:
    images, grid = torch.rand(1, 5, 4, 4), torch.rand(1, 3, 3, 2)
    # per axis: unnormalize 4, floor and fraction 3; four corner weights; per value four products, three sums
    expected = 9 * (2 * (4 + 3) + 4) + 9 * 5 * 7

    assert flops(lambda: F.grid_sample(images, grid, align_corners=False)) == expected
    assert flops(lambda: F.grid_sample(images, grid, align_corners=True)) == expected - 9 * 2
    assert flops(lambda: F.grid_sample(images, grid, mode="nearest", align_corners=False)) == 9 * 2 * (4 + 1)


def test_grids_in_three_dimensions_and_cubic_grids_are_complete() -> None:
    volume, grid = torch.rand(1, 2, 3, 3, 3), torch.rand(1, 2, 2, 2, 3)

    assert flops(lambda: F.grid_sample(volume, grid, align_corners=False)) == 8 * (3 * 7 + 16) + 16 * 15
    assert flops(lambda: F.grid_sample(torch.rand(1, 2, 4, 4), torch.rand(1, 3, 3, 2), mode="bicubic",
                                       padding_mode="border", align_corners=False)) > 18 * 35  # fmt: skip


def test_affine_grids_are_small_products() -> None:
    theta = torch.rand(2, 2, 3)

    assert macs(lambda: F.affine_grid(theta, [2, 1, 4, 5], align_corners=False)) == 2 * 20 * 2 * 3


def test_scattered_values_are_added_once_each() -> None:
    rows, values = torch.zeros(5, 3), torch.rand(4, 3)
    index = torch.tensor([0, 1, 1, 4])

    assert flops(lambda: rows.index_add(0, index, values)) == 12
    assert flops(lambda: rows.index_add(0, index, values, alpha=2)) == 24
    assert flops(lambda: rows.scatter_add(0, index[:, None].expand(4, 3), values)) == 12
    assert flops(lambda: rows.index_put((index,), values, accumulate=True)) == 12
    assert flops(lambda: rows.index_put((index,), values)) == 0
    assert flops(lambda: rows[index]) == 0
    assert flops(lambda: rows.scatter_reduce(0, index[:, None].expand(4, 3), values, "mean")) == 12 + 15


def test_an_embedding_bag_adds_its_rows_and_its_gradient_adds_them_back() -> None:
    tokens = torch.tensor([[1, 2, 4], [4, 3, 2]])

    assert flops(lambda: nn.EmbeddingBag(10, 3, mode="sum")(tokens)) == 18
    assert flops(lambda: nn.EmbeddingBag(10, 3, mode="mean")(tokens)) == 18 + 6
    table = nn.Embedding(10, 3)
    output = table(tokens)
    assert flops(lambda: output.backward(torch.ones_like(output)), grad=True) == 18


def test_folding_adds_every_column_value() -> None:
    assert flops(lambda: F.fold(torch.rand(1, 4, 9), (4, 4), 2)) == 36
    assert flops(lambda: F.unfold(torch.rand(1, 1, 4, 4), 2)) == 0


def test_padding_folds_its_border_back() -> None:
    signal = torch.rand(1, 2, 5, requires_grad=True)
    padded = F.pad(signal, (2, 1), mode="reflect")

    assert flops(lambda: padded.backward(torch.ones_like(padded)), grad=True) == 2 * 3


def test_ordering_and_counting_move_values_only() -> None:
    values = torch.rand(3, 5)

    def work() -> None:
        values.sort(-1)
        values.topk(2)
        values.argsort()
        values.median()
        torch.bincount(torch.tensor([1, 2, 2]))
        torch.histc(values)
        values.unique()
        values.nonzero()

    report = counted(work).report()

    assert (report["total"]["status"], report["total"]["value"]) == ("complete", 0)


def test_counting_into_bins_is_free_and_adding_weights_is_not() -> None:
    indices, values = torch.tensor([0, 1, 1]), torch.rand(3)

    assert flops(indices.bincount) == 0
    assert flops(lambda: indices.bincount(values)) == 3
    assert flops(lambda: torch.histogram(values, 4)) == 0
    assert flops(lambda: torch.histogram(values, 4, weight=values)) == 3
    assert flops(lambda: torch.histogram(values, torch.tensor([0.0, 0.5, 1.0]), weight=values)) == 3
