"""Worked numbers of plain layers: counting.md and the public cases, each derived by hand beside the number."""

from __future__ import annotations

import pytest
import torch
from support.estimates import work
from torch import nn


@pytest.mark.parametrize(
    ("module", "shape", "expected"),
    [
        # 2 outputs x (3 multiplies + 2 adds + bias); 3 + 8 + 2 elements.
        (nn.Linear(3, 2), (3,), (12, 6, 13)),
        # 7200 outputs x (27 + 26 + 1); 7200 x 27 window reads + 224 parameters + 7200 writes.
        (nn.Conv2d(3, 8, 3), (3, 32, 32), (388_800, 194_400, 201_824)),
        # 24 inputs x 3 outputs per group x 3; bias on 2 x 6 x 6 outputs.
        (nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, groups=2), (2, 4, 3), (504, 216, 216 + 42 + 72)),
        # Windows 2, 3, 2 per axis hold 49 elements for 9 outputs.
        (nn.AvgPool2d(3, 2, 1, count_include_pad=False), (1, 1, 5, 5), (49, 0, 58)),
        # Windows of 3 per axis hold 81 elements for 9 outputs: 72 adds, 9 divides.
        (nn.AdaptiveAvgPool2d(3), (1, 1, 7, 7), (81, 0, 90)),
        (nn.MaxPool2d(2), (1, 1, 4, 4), (12, 0, 20)),
        (nn.Dropout(0.5), (8,), (0, 0, 0)),
        (nn.Softmax(-1), (4, 3), (4 * 13, 0, 8 * 12 + 16)),
        (nn.ReLU(), (2, 3), (6, 0, 12)),
        # N = 12 values in R = 3 rows: 6N + 2R + 2N, N(1 + 1), 4N + 5R + 1 + 2N + 8.
        (nn.LayerNorm(4), (1, 3, 4), (102, 24, 96)),
        # N = 24, C = 3: 2N + 2C + 2N.
        (nn.BatchNorm1d(3), (2, 3, 4), (102, 24, 24 * 4 + 7 + 6)),
    ],
)
def test_all_three_numbers(module, shape, expected):
    assert work(module, torch.ones(shape)) == expected


@pytest.mark.parametrize(
    ("module", "shape", "macs"),
    [
        (nn.ConvTranspose2d(6, 4, 3, stride=2, bias=False), (1, 6, 5, 5), 25 * 6 * 4 * 9),
        (nn.ConvTranspose2d(4, 4, 3, stride=2, groups=4, bias=False), (1, 4, 5, 5), 900),
        (nn.Conv2d(3, 8, 3, bias=False), (3, 6, 6), 3_456),
        (nn.Linear(4, 5), (3, 4), 60),
        (nn.Linear(64, 256), (1, 22_528, 64), 369_098_752),
        (nn.ConvTranspose2d(32, 1, 3), (1, 32, 1, 1), 288),
        (nn.ConvTranspose2d(3, 1, 2, stride=2), (1, 3, 2, 2), 48),
        (nn.ConvTranspose2d(6, 6, 2, stride=2, groups=3), (2, 6, 8, 8), 1_536 * 4),
        (nn.Conv2d(3, 8, 3, stride=2, bias=False), (1, 3, 9, 9), 3_456),
        (nn.Conv2d(3, 8, 3, padding="same", dilation=2), (1, 3, 7, 7), 10_584),
        (nn.Conv2d(3, 8, 3, padding="same", padding_mode="circular"), (1, 3, 7, 7), 10_584),
        (nn.Conv2d(8, 8, 3, groups=8, bias=False), (1, 8, 6, 6), 16 * 8 * 9),
    ],
)
def test_macs(module, shape, macs):
    assert work(module, torch.ones(shape))[1] == macs


def test_bias_of_a_transposed_convolution_adds_one_per_output():
    # 2 x 48 MACs and 16 outputs.
    assert work(nn.ConvTranspose2d(3, 1, 2, stride=2), torch.ones(1, 3, 2, 2))[0] == 112


def test_transposed_convolution_on_real_size():
    with torch.device("meta"):
        module, source = nn.ConvTranspose2d(192, 384, 2, stride=2, bias=False), torch.empty(6, 192, 30, 96)
    assert work(module, source)[0] == 10_192_158_720


def test_bilinear_contracts_the_first_operand_first():
    # Per row 3x4x5 + 4x5 products; FLOPs 20 x 5 + 5 x 7 + 5.
    flops, macs, _ = work(nn.Bilinear(3, 4, 5), torch.ones(2, 3), torch.ones(2, 4))
    assert (flops, macs) == (2 * 140, 160)


def test_embedding_computes_nothing_and_reads_rows():
    indices = torch.zeros(2, 5, dtype=torch.long)
    assert work(nn.Embedding(1000, 16), indices) == (0, 0, 10 + 2 * 160)
