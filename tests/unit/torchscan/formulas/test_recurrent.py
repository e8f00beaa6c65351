"""Recurrent layers: public cases, and a count of every product by walking over steps, layers and directions."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.estimates import estimate, work
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


@pytest.mark.filterwarnings("ignore:LSTM with projections:UserWarning")
@pytest.mark.parametrize(
    ("module", "shape", "macs"),
    [
        (nn.LSTM(3, 4, bias=False), (5, 2, 3), 1_120),
        (nn.LSTMCell(3, 4), (2, 3), 224),
        (nn.LSTM(10, 20), (5, 3, 10), 36_000),
        (nn.LSTM(10, 20, batch_first=True), (3, 5, 10), 36_000),
        (nn.LSTM(10, 20), (5, 10), 12_000),
        (nn.GRU(10, 20), (5, 3, 10), 27_000),
        (nn.RNN(10, 20), (5, 3, 10), 9_000),
        # Two directions, then a layer over both: 15 rows x 2 x 80 x (10 + 20) + 15 x 2 x 80 x (40 + 20).
        (nn.LSTM(10, 20, 2, bidirectional=True), (5, 3, 10), 72_000 + 144_000),
        # Gates read 5 projected numbers; each row projects 20 to 5.
        (nn.LSTM(10, 20, proj_size=5), (5, 3, 10), 15 * (80 * 15 + 100)),
    ],
)
def test_macs(module, shape, macs):
    assert work(module, torch.ones(shape))[1] == macs


def test_packed_sequences_count_their_true_steps():
    packed = pack_padded_sequence(torch.ones(7, 3, 10), torch.tensor([7, 3, 1]))
    assert work(nn.LSTM(10, 20), packed)[1] == 11 * 80 * 30


def test_lstm_flops_by_hand():
    # One row, one unit, one input: 4 gates of (1 + 1 + 1) and 2 biases each; 3 sigmoids of 4, 2 tanh, 4 for c and h.
    assert work(nn.LSTMCell(1, 1), torch.ones(1, 1))[0] == 4 * 5 + 18
    assert work(nn.LSTMCell(1, 1, bias=False), torch.ones(1))[0] == 4 * 3 + 18


def test_gru_and_rnn_flops_by_hand():
    # r and z: 5 + 4 each; n: 5 adds and products, r's product and tanh; h: 4.
    assert work(nn.GRUCell(1, 1), torch.ones(1, 1))[0] == 9 + 9 + 7 + 4
    assert work(nn.RNNCell(1, 1, nonlinearity="relu"), torch.ones(1, 1))[0] == 6


def test_cell_dmas_by_hand():
    # Input stage 3 + 16 + 4 -> 4; recurrent stage 1 + 4 + 4 -> 4 (12 of 3 inputs); gates 8, state 3.
    assert work(nn.LSTMCell(3, 1), torch.ones(1, 3))[2] == (3 + 12 + 4 + 4) + (1 + 4 + 4 + 4) + 8 + 3


@given(
    kind=st.sampled_from([nn.RNN, nn.LSTM, nn.GRU]),
    sizes=st.tuples(*(st.integers(1, 4) for _ in range(4))),
    layers=st.integers(1, 3),
    bidirectional=st.booleans(),
    batch_first=st.booleans(),
)
def test_a_layer_is_the_sum_of_its_weights_uses(kind, sizes, layers, bidirectional, batch_first):
    steps, batch, inputs, hidden = sizes
    module = kind(inputs, hidden, layers, bidirectional=bidirectional, batch_first=batch_first).eval()
    shape = (batch, steps, inputs) if batch_first else (steps, batch, inputs)
    matrices = sum(parameter.numel() for name, parameter in module.named_parameters() if "weight" in name)
    assert work(module, torch.ones(shape))[1] == matrices * steps * batch


@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_packing_equals_the_sum_of_single_sequences(lengths):
    module = nn.GRU(2, 3, bidirectional=True).eval()
    padded = torch.ones(max(lengths), len(lengths), 2)
    packed = pack_padded_sequence(padded, torch.tensor(lengths), enforce_sorted=False)
    single = [work(module, torch.ones(length, 2)) for length in lengths]
    assert work(module, packed)[:2] == (sum(each[0] for each in single), sum(each[1] for each in single))


def test_dropout_between_layers_counts_in_training():
    quiet, noisy = nn.LSTM(2, 3, 2), nn.LSTM(2, 3, 2, dropout=0.5)
    source = torch.ones(4, 1, 2)
    assert estimate(noisy, source)["module_flops"] == estimate(quiet, source)["module_flops"] + 2 * 12
    assert work(noisy, source) == work(quiet, source)
