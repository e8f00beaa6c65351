"""Factories: each returns a model and the arguments of one call. Nothing here knows TorchScan."""

from __future__ import annotations

import torch
from torch import nn
from zoo import cnn as small
from zoo import gpt, resnet


def cnn() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """A classifier of 64 x 64 images."""
    return small.SmallCnn(), (torch.zeros(1, 3, 64, 64),)


def resnet50() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """ResNet-50 with two classes, at 224 x 224."""
    return resnet.resnet50(), (torch.zeros(1, 3, 224, 224),)


def gpt2() -> tuple[nn.Module, tuple[torch.Tensor]]:
    """GPT-2 with its language model head, at 128 tokens."""
    return gpt.gpt2(), (torch.zeros(1, 128, dtype=torch.long),)
