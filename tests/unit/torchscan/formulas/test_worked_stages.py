"""DMAs and FLOPs of the remaining families, each derived by hand from the stages of its algorithm."""

from __future__ import annotations

import pytest
import torch
from support.estimates import estimate, work
from torch import nn
from torch.nn.utils import parametrizations


@pytest.mark.parametrize(
    ("module", "shape", "expected"),
    [
        # 24 values in 4 rows (2 samples of 2 groups): 6N + 2R + 2N; N + N; 4N + 5R + 1 + 2N + 8.
        (nn.GroupNorm(2, 4), (2, 4, 3), (144 + 8 + 48, 48, 96 + 20 + 1 + 48 + 8)),
        # 24 values in 8 rows, no affine.
        (nn.InstanceNorm1d(4), (2, 4, 3), (144 + 16, 24, 96 + 40 + 1)),
        # An unbatched image: 12 values in 4 rows.
        (nn.InstanceNorm1d(4), (4, 3), (72 + 8, 12, 48 + 20 + 1)),
        # Saved statistics: 2N + 2C; 2N + 2C + 1.
        (nn.InstanceNorm1d(4, track_running_stats=True), (2, 4, 3), (48 + 8, 0, 48 + 8 + 1)),
        (nn.LayerNorm(4, elementwise_affine=False), (3, 4), (72 + 6, 12, 48 + 15 + 1)),
        # Windows of 3 channels hold 2, 3, 3, 2 of 4: 10 per place, 20 in all; squares 8, adds 12, and 4 per value.
        (nn.LocalResponseNorm(3), (1, 4, 2), (8 + 12 + 32, 8, 16 + 20 + 8 + 24)),
        # Windows of 2: powers 2, an add, a root.
        (nn.LPPool1d(2, 2), (1, 1, 6), (12, 0, 6 + 3)),
        (nn.FractionalMaxPool2d(2, 3), (1, 1, 7, 7), (9 * 3, 0, 36 + 9)),
        (nn.AdaptiveMaxPool1d(3), (1, 1, 7), (9 - 3, 0, 9 + 3)),
        # Values and indices are written.
        (nn.MaxPool1d(2, return_indices=True), (1, 1, 4), (2, 0, 4 + 4)),
        (nn.PReLU(3), (1, 3, 2), (12, 0, 12 + 3)),
        (nn.GLU(), (2, 6), (30, 0, 12 + 6)),
        (nn.LogSoftmax(1), (2, 3), (2 * 14, 0, 48 + 12)),
        (nn.Softmin(1), (2, 3), (2 * 13 + 6, 0, 48 + 8 + 12)),
        # Without a dim, three axes are reduced along the first.
        (nn.Softmax(0), (4, 3, 2), (6 * 18, 0, 8 * 24 + 24)),
        (nn.Softmax2d(), (4, 3, 2), (6 * 18, 0, 8 * 24 + 24)),
        (nn.ZeroPad2d((1, 0, 0, 2)), (1, 1, 2, 2), (0, 0, 4 + 12)),
        (nn.PixelShuffle(2), (1, 4, 2, 2), (0, 0, 32)),
        (nn.ChannelShuffle(2), (1, 4, 2, 2), (0, 0, 32)),
        (nn.Flatten(), (1, 4, 2), (0, 0, 0)),
        (nn.Unfold(2), (1, 1, 3, 3), (0, 0, 2 * 16)),
        # Sixteen values land on nine places.
        (nn.Fold(3, 2), (1, 4, 4), (7, 0, 16 + 9)),
        (nn.Upsample(scale_factor=2), (1, 1, 3), (0, 0, 12)),
        (nn.Upsample(scale_factor=2, mode="linear"), (1, 1, 3), (18, 0, 18)),
        (nn.Upsample(scale_factor=2, mode="bicubic"), (1, 1, 2, 2), (16 * 35, 0, 16 * 17)),
        (nn.Upsample(3, mode="area"), (1, 1, 7, 7), (81, 0, 90)),
        (nn.Upsample(scale_factor=2, mode="trilinear"), (1, 1, 1, 1, 1), (8 * 21, 0, 8 * 9)),
    ],
)
def test_one_input(module, shape, expected):
    assert work(module, torch.rand(shape)) == expected


def test_two_inputs():
    first, second = torch.rand(2, 3), torch.rand(2, 4)
    # Inputs 6 + 8, parameters 60 + 5, the staged 2 x 5 x 4 written and read, outputs 10.
    assert work(nn.Bilinear(3, 4, 5), first, second)[2] == 14 + 65 + 80 + 10
    assert work(nn.CosineSimilarity(), first, first) == (2 * 21, 0, 12 + 2)
    assert work(nn.PairwiseDistance(), first, first) == (2 * 12, 0, 12 + 2)
    assert work(nn.PairwiseDistance(1), first, first)[0] == 2 * 11
    assert work(nn.PairwiseDistance(3), first, first)[0] == 2 * 15
    # Six losses of 2 and their mean; both inputs, losses written and read, one number.
    assert work(nn.MSELoss(), first, first) == (12 + 6, 0, 12 + 6 + 6 + 1)
    assert work(nn.MSELoss(reduction="none"), first, first) == (12, 0, 12 + 6)


def test_unpooling_moves_values_to_their_places():
    pooled, indices = nn.MaxPool1d(2, return_indices=True)(torch.rand(1, 1, 4))
    assert work(nn.MaxUnpool1d(2), pooled, indices) == (0, 0, 4 + 4)


def test_tracking_statistics_in_training_reads_and_writes_them():
    source = torch.rand(2, 3, 4)
    tracked, batch = estimate(nn.BatchNorm1d(3), source), estimate(nn.BatchNorm1d(3, track_running_stats=False), source)
    assert tracked["module_flops"] == batch["module_flops"] + 8 * 3
    assert tracked["dmas"] == batch["dmas"] + 6 * 3
    assert tracked["macs"] == batch["macs"] == 48


def test_spectral_norm_by_hand():
    module = parametrizations.spectral_norm(nn.Linear(4, 3)).eval().parametrizations.weight
    # Three dot products of 4, one of 3, and 12 divides.
    flops, macs, _ = work(module[0], module.original)
    assert (flops, macs) == (3 * 7 + 5 + 12, 12 + 3)


@pytest.mark.skipif(not hasattr(nn, "RMSNorm"), reason="since torch 2.4")
def test_rms_norm_by_hand():
    # 12 values in 3 rows: 3N + 2R + N; squares N and products N; 3N + 2R + 1, and 2N + 4 for the weight.
    assert work(nn.RMSNorm(4), torch.rand(3, 4)) == (36 + 6 + 12, 24, 36 + 6 + 1 + 24 + 4)
    assert work(nn.RMSNorm(4, elementwise_affine=False), torch.rand(3, 4)) == (42, 12, 43)


def test_dropout_in_training_moves_its_mask():
    # Mask written and read, values read and written for the product, and again for the scaling.
    source = torch.rand(2, 4)
    assert estimate(nn.Dropout(0.5), source)["dmas"] == 48
    assert estimate(nn.Dropout(1.0), source)["dmas"] == 16
    # Mask written; four stages of read and write; product and add of mask and values.
    assert estimate(nn.AlphaDropout(0.5), source)["dmas"] == 8 + 64 + 2 * 24


def test_what_losses_read_and_write():
    first, second, classes = torch.rand(2, 3), torch.rand(2, 3), torch.tensor([0, 2])
    reduced = 2 + 1  # two losses read, one number written
    # Two distances that read two rows and write one number; they are read again, and each loss is written.
    assert work(nn.TripletMarginLoss(), first, second, first)[2] == 2 * 14 + 4 + 2 + reduced
    assert work(nn.CosineEmbeddingLoss(), first, second, torch.tensor([1, -1]))[2] == 12 + 2 + 2 + 2 + reduced
    three = torch.rand(3, 3)
    assert work(nn.CosineEmbeddingLoss(), three, three, torch.tensor([1, -1, 1]))[2] == 18 + 3 + 3 + 3 + 3 + 1
    # Target, value and loss of each row.
    assert work(nn.NLLLoss(), first, classes)[2] == 6 + reduced
    assert work(nn.NLLLoss(torch.ones(3)), first, classes)[2] == 8 + reduced
    assert work(nn.CrossEntropyLoss(), first, classes)[2] == 48 + 12 + 6 + reduced
    assert work(nn.CrossEntropyLoss(), first, second)[2] == 48 + 12 + 12 + 2 + reduced
    # Values, targets, losses.
    assert work(nn.MultiMarginLoss(), first, classes)[2] == 6 + 2 + 2 + reduced
    assert work(nn.MultiLabelMarginLoss(), first, torch.tensor([[0, -1, 0]] * 2))[2] == 12 + 2 + reduced
    assert work(nn.GaussianNLLLoss(), first, second, torch.ones(2, 1))[2] == 12 + 2 + 6 + 7
    # 67 cells of 5, two losses, and each divided by its length.
    ctc = (torch.rand(6, 2, 5).log_softmax(2), torch.ones(2, 3).long(), (6, 5), (3, 2))
    assert work(nn.CTCLoss(), *ctc)[2] == 5 * 67 + 2 + 6 + reduced


def test_what_recurrent_layers_read_and_write():
    # Two steps of one sequence, I = 3, H = 2. Input stage 6 + 6 weights + 2 biases -> 4 gates; per step 4 weights and 2
    # biases, the state read 4 and 4 gates written; both kinds of gates read 8, the state written 4.
    assert work(nn.RNN(3, 2), torch.rand(2, 1, 3))[2] == (6 + 6 + 2 + 4) + (4 + 2 * (4 + 2) + 4) + (8 + 4)
    # GRU has three gates, and reads the state once more.
    assert work(nn.GRU(3, 2), torch.rand(2, 1, 3))[2] == (6 + 18 + 6 + 12) + (4 + 2 * (12 + 6) + 12) + (24 + 8)


@pytest.mark.filterwarnings("ignore:LSTM with projections:UserWarning")
def test_what_a_projection_computes_and_moves():
    # One row, I = 1, H = 2, projected to 1: 8 gates of 1 + 1 + 1 with 2 biases; 18 per unit; one dot product of 2.
    flops, macs, dmas = work(nn.LSTM(1, 2, proj_size=1), torch.rand(1, 1, 1))
    assert (flops, macs) == (8 * 5 + 36 + 3, 8 * 2 + 2)
    # Input 1 + 8 + 8 -> 8; state 1 + 8 + 8 -> 8; gates 16, states 6; projection 2 + 2 -> 1.
    assert dmas == 25 + 25 + 22 + 5


def test_weight_norm_moves():
    module = parametrizations.weight_norm(nn.Linear(4, 3)).parametrizations.weight
    # Norms: 12 values read, 3 written; norms and scales read 6; values read and written 24.
    assert work(module[0], module.original0, module.original1)[2] == 15 + 6 + 24


def test_spectral_norm_moves():
    module = parametrizations.spectral_norm(nn.Linear(4, 3)).eval().parametrizations.weight
    # Product 12 + 4 -> 3; dot 3 + 3 -> 1; divide 12 + 1 -> 12.
    assert work(module[0], module.original)[2] == 19 + 7 + 25
