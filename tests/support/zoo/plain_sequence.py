"""Recurrent, temporal and attention models in plain torch."""

from __future__ import annotations

from typing import Any

import torch
from support.zoo.registry import Built, entry
from torch import Tensor, nn
from torch.nn import functional as F


class RecurrentClassifier(nn.Module):
    def __init__(self, kind: type[nn.RNNBase], packed: bool, **options: Any) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 16, padding_idx=0)
        self.cell = kind(16, 24, batch_first=True, **options)
        ways = 2 if options.get("bidirectional") else 1
        self.out = nn.Linear(24 * ways, 5)
        self.packed = packed

    def forward(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        x = self.embed(tokens)
        if self.packed:
            x = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        y, _ = self.cell(x)
        if self.packed:
            y, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True)
        return self.out(y.mean(1))


@entry("plain_lstm_bidirectional", "plain")
def _() -> Built:
    net = RecurrentClassifier(nn.LSTM, False, num_layers=2, bidirectional=True, dropout=0.1)
    return net, (torch.randint(1, 50, (3, 11)),), {}


@entry("plain_gru_packed", "plain")
def _() -> Built:
    net = RecurrentClassifier(nn.GRU, True, num_layers=1, bidirectional=True)
    return net, (torch.randint(1, 50, (3, 11)), torch.tensor([5, 11, 8])), {}


@entry("plain_rnn_relu", "plain")
def _() -> Built:
    net = RecurrentClassifier(nn.RNN, False, num_layers=2, nonlinearity="relu")
    return net, (torch.randint(1, 50, (3, 11)),), {}


class _CausalBlock(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(width, width, 3, dilation=dilation))

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + F.dropout(F.relu(self.conv(F.pad(x, (self.pad, 0)))), 0.1, self.training))


@entry("plain_tcn_weight_norm", "plain")
def _() -> Built:
    net = nn.Sequential(nn.Conv1d(4, 16, 1), *[_CausalBlock(16, 2**i) for i in range(3)], nn.Conv1d(16, 2, 1))
    return net, (torch.randn(2, 4, 50),), {}


class WaveNet(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.front = nn.Embedding(64, width)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2**i) for i in range(4))
        self.mixes = nn.ModuleList(nn.Conv1d(width, 2 * width, 1) for _ in range(4))
        self.tail = nn.Sequential(nn.ReLU(), nn.Conv1d(width, 64, 1))

    def forward(self, codes: Tensor) -> Tensor:
        x = self.front(codes).transpose(1, 2)
        total = torch.zeros_like(x)
        for gate, mix in zip(self.gates, self.mixes, strict=True):
            left, right = gate(F.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            stay, skip = mix(torch.tanh(left) * torch.sigmoid(right)).chunk(2, 1)
            x, total = x + stay, total + skip
        return self.tail(total)


@entry("plain_wavenet", "plain")
def _() -> Built:
    return WaveNet(), (torch.randint(0, 64, (1, 80)),), {}


@entry("plain_dcgan_generator", "plain")
def _() -> Built:
    net = nn.Sequential(
        nn.ConvTranspose2d(24, 32, 4, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(True),
        nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(True),
        nn.ConvTranspose2d(16, 3, 4, 2, 1, bias=False),
        nn.Tanh(),
    )
    return net, (torch.randn(2, 24, 1, 1),), {}


@entry("plain_nn_transformer", "plain")
def _() -> Built:
    net = nn.Transformer(32, 4, 1, 1, 64, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(7)
    return net, (torch.randn(2, 9, 32), torch.randn(2, 7, 32)), {"tgt_mask": mask}


class PaddedEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 3)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        return self.head(self.encoder(x, src_key_padding_mask=padding).mean(1))


@entry("plain_encoder_padding_mask", "plain")
def _() -> Built:
    padding = torch.zeros(2, 10, dtype=torch.bool)
    padding[0, 6:] = True
    return PaddedEncoder(), (torch.randn(2, 10, 32), padding), {}
