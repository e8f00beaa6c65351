"""A small convolutional network."""

from __future__ import annotations

import torch
from torch import nn

WIDTHS = (32, 64, 192)


class SmallCnn(nn.Module):
    """Three strided convolutions and a linear classifier."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        inputs = (3, *WIDTHS)
        self.features = nn.Sequential(
            *(
                nn.Sequential(nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after), nn.ReLU())
                for before, after in zip(inputs, WIDTHS, strict=False)
            )
        )
        self.classifier = nn.Linear(WIDTHS[-1], classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images (batch, 3, height, width) to scores (batch, classes)."""
        return self.classifier(self.features(images).mean(dim=(2, 3)))
