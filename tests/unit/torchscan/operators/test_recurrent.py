"""Recurrent layers: the fused kernel and PyTorch's step-by-step form count the same."""

from __future__ import annotations

import pytest
import torch
from support.counting import counted, flops, macs
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (nn.LSTM(3, 4, bias=False), (5, 2, 3), 1_120),
        (nn.LSTM(10, 20), (5, 3, 10), 36_000),
        (nn.LSTM(10, 20, bidirectional=True), (5, 3, 10), 72_000),
        (nn.LSTM(10, 20, num_layers=2), (5, 3, 10), 36_000 + 15 * 80 * 40),
        (nn.LSTM(10, 20, batch_first=True), (3, 5, 10), 36_000),
        (nn.LSTM(10, 20), (5, 10), 12_000),
        (nn.LSTM(10, 20, proj_size=6), (5, 3, 10), 15 * (80 * 10 + 80 * 6 + 20 * 6)),
        (nn.GRU(10, 20), (5, 3, 10), 15 * 60 * 30),
        (nn.RNN(10, 20), (5, 3, 10), 15 * 20 * 30),
        (nn.LSTMCell(3, 4, bias=False), (2, 3), 224),
        (nn.GRUCell(3, 4), (2, 3), 2 * 12 * 7),
        (nn.RNNCell(3, 4), (2, 3), 2 * 4 * 7),
    ],
)
def test_every_step_of_every_sequence_meets_every_weight(
    layer: nn.Module, shape: tuple[int, ...], expected: int
) -> None:
    assert macs(lambda: layer(torch.rand(shape))) == expected


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_packed_sequences_count_their_true_steps(kind: type[nn.RNNBase]) -> None:
    layer = kind(10, 20)
    packed = pack_padded_sequence(torch.rand(7, 3, 10), [7, 3, 1])
    per_step = sum(weight.numel() for name, weight in layer.named_parameters() if name.startswith("weight"))

    assert macs(lambda: layer(packed)) == (7 + 3 + 1) * per_step


@pytest.mark.filterwarnings("ignore:TF32 acceleration")
@pytest.mark.parametrize("options", [{}, {"bidirectional": True}, {"num_layers": 2}, {"bias": False}])
def test_a_fused_lstm_equals_its_steps(options: dict[str, object]) -> None:
    layer, values = nn.LSTM(10, 20, **options), torch.rand(5, 3, 10)
    fused = counted(lambda: layer(values))
    with torch.backends.mkldnn.flags(enabled=False):
        stepwise = flops(lambda: layer(values))

    assert "aten.mkldnn_rnn_layer" in fused.report()["by_operator"]
    assert fused.total.flops == stepwise


def test_a_recurrent_training_step_costs_three_forwards_of_products() -> None:
    layer, values = nn.LSTM(3, 4, bias=False), torch.rand(5, 2, 3)

    assert macs(lambda: layer(values)[0].sum().backward(), grad=True) == 3 * 1_120
