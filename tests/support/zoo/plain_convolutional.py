"""Convolutional models in plain torch."""

from __future__ import annotations

import torch
from support.zoo.registry import Built, entry
from torch import Tensor, nn
from torch.nn import functional as F


@entry("plain_lenet", "plain")
def _() -> Built:
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.Tanh(),
        nn.Linear(120, 84),
        nn.Tanh(),
        nn.Linear(84, 10),
    )
    return net, (torch.rand(2, 1, 28, 28),), {}


@entry("plain_vgg", "plain")
def _() -> Built:
    layers: list[nn.Module] = []
    width = 3
    for nxt in (8, 16, 32):
        layers += [nn.Conv2d(width, nxt, 3, padding=1), nn.BatchNorm2d(nxt), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(2)]
        width = nxt
    head = [nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(width * 9, 64), nn.ReLU(), nn.Dropout(0.5)]
    return nn.Sequential(*layers, *head, nn.Linear(64, 10), nn.LogSoftmax(-1)), (torch.rand(2, 3, 40, 40),), {}


class _Double(nn.Sequential):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__(
            nn.Conv2d(cin, cout, 3, padding=1),
            nn.GroupNorm(4, cout),
            nn.LeakyReLU(0.1),
            nn.Conv2d(cout, cout, 3, padding=1),
            nn.InstanceNorm2d(cout, affine=True),
            nn.ELU(),
        )


class UNet(nn.Module):
    """One level goes up by transposed convolution, the other by bilinear interpolation."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = _Double(3, 8), _Double(8, 16), _Double(16, 32)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.d, self.e = _Double(32, 16), _Double(24, 8)
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        d = self.d(torch.cat([self.up(c), b], 1))
        wide = F.interpolate(d, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.sigmoid(self.head(self.e(torch.cat([wide, a], 1))))


@entry("plain_unet", "plain")
def _() -> Built:
    return UNet(), (torch.rand(1, 3, 32, 32),), {}
