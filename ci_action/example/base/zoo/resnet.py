"""ResNet-50 with two classes: the one of transformers where it is installed, else the same network in plain torch."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import nn

DEPTHS = (3, 4, 6, 3)
WIDTHS = (256, 512, 1024, 2048)
REDUCTION = 4


def resnet50() -> nn.Module:
    """Give the network, with random weights: nothing is downloaded."""
    if find_spec("transformers"):
        from transformers import ResNetConfig, ResNetForImageClassification

        return ResNetForImageClassification(ResNetConfig())
    return ResNet50()


class ResNet50(nn.Module):
    """Bottleneck residual network (He et al. 2015), strided in its 3 x 3 convolutions."""

    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        self.stem = nn.Sequential(_convolution(3, 64, 7, stride=2), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1))
        blocks, before = [], 64
        for stage, (depth, width) in enumerate(zip(DEPTHS, WIDTHS, strict=True)):
            for index in range(depth):
                blocks.append(Bottleneck(before, width, stride=2 if stage and not index else 1))
                before = width
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(before, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images (batch, 3, height, width) to scores (batch, classes)."""
        return self.classifier(self.blocks(self.stem(images)).mean(dim=(2, 3)))


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions beside a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        inner = after // REDUCTION
        self.body = nn.Sequential(
            _convolution(before, inner, 1),
            nn.ReLU(),
            _convolution(inner, inner, 3, stride=stride),
            nn.ReLU(),
            _convolution(inner, after, 1),
        )
        self.shortcut = nn.Identity() if before == after else _convolution(before, after, 1, stride=stride)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Features (batch, before, height, width) to (batch, after, height / stride, width / stride)."""
        return nn.functional.relu(self.body(features) + self.shortcut(features))


def _convolution(before: int, after: int, kernel: int, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(before, after, kernel, stride=stride, padding=kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(after))
