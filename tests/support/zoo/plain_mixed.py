"""Mixers, recommenders, spectral models and flows in plain torch."""

from __future__ import annotations

import math

import torch
from support.zoo.registry import Built, entry
from torch import Tensor, nn


class MixerBlock(nn.Module):
    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.t = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
        self.c = nn.Sequential(nn.Linear(width, 64), nn.GELU(approximate="tanh"), nn.Linear(64, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.t(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.c(self.n2(x))


class Mixer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 8, 8)
        self.blocks = nn.Sequential(MixerBlock(16, 32), MixerBlock(16, 32))
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(x).flatten(2).transpose(1, 2)).mean(1))


@entry("plain_mlp_mixer", "plain")
def _() -> Built:
    return Mixer(), (torch.rand(2, 3, 32, 32),), {}


class DLRM(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        self.tables = nn.ModuleList(nn.EmbeddingBag(100, width, mode=m) for m in ("sum", "mean", "max"))
        self.top = nn.Sequential(nn.Linear(width + 6, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())

    def forward(self, dense: Tensor, indices: Tensor, offsets: Tensor) -> Tensor:
        x = self.bottom(dense)
        pieces = torch.stack([x, *[t(indices[i], offsets) for i, t in enumerate(self.tables)]], 1)
        dots = torch.bmm(pieces, pieces.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, -1)
        return self.top(torch.cat([x, dots[:, i, j]], 1))


@entry("plain_dlrm", "plain")
def _() -> Built:
    return DLRM(), (torch.randn(4, 13), torch.randint(0, 100, (3, 12)), torch.tensor([0, 3, 5, 9])), {}


class FourierMixer(nn.Module):
    """FNet-style token mixing plus a learned complex filter (global filter network)."""

    def __init__(self, tokens: int = 16, width: int = 32) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.filter = nn.Parameter(torch.randn(tokens // 2 + 1, width, 2) * 0.02)
        self.ff = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))

    def forward(self, x: Tensor) -> Tensor:
        x = self.n1(x + torch.fft.fft2(x).real)
        spectrum = torch.fft.rfft(x, dim=1, norm="ortho") * torch.view_as_complex(self.filter)
        x = x + torch.fft.irfft(spectrum, n=x.shape[1], dim=1, norm="ortho")
        return x + self.ff(self.n2(x))


@entry("plain_fft_mixer", "plain")
def _() -> Built:
    return FourierMixer(), (torch.randn(2, 16, 32),), {}


class Coupling(nn.Module):
    def __init__(self, width: int, flip: bool) -> None:
        super().__init__()
        half = width // 2
        self.net = nn.Sequential(nn.Linear(half, 32), nn.SiLU(), nn.Linear(32, 2 * half))
        self.mix = nn.Parameter(torch.linalg.qr(torch.randn(width, width)).Q)
        self.flip = flip

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = x @ self.mix
        keep, move = x.chunk(2, 1)
        if self.flip:
            keep, move = move, keep
        log_scale, shift = self.net(keep).chunk(2, 1)
        log_scale = 2 * torch.atan(log_scale)
        moved = move * torch.exp(log_scale) + shift
        return torch.cat([keep, moved], 1), log_scale.sum(1) + torch.linalg.slogdet(self.mix).logabsdet


class Flow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.ModuleList(Coupling(8, bool(i % 2)) for i in range(3))

    def forward(self, x: Tensor) -> Tensor:
        total = x.new_zeros(x.shape[0])
        for step in self.steps:
            x, gain = step(x)
            total = total + gain
        return total - 0.5 * (x.pow(2) + math.log(2 * math.pi)).sum(1)


@entry("plain_coupling_flow", "plain")
def _() -> Built:
    return Flow(), (torch.randn(6, 8),), {}
