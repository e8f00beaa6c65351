"""The models that every tool is measured on. Random weights, nothing downloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

Built = tuple[nn.Module, tuple[Any, ...]]


class Shared(nn.Module):
    """One layer called many times."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.calls = calls

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.calls):
            x = self.layer(x)
        return x


def deep(layers: int = 5000) -> Built:
    return nn.Sequential(*[nn.Linear(8, 8) for _ in range(layers)]), (torch.ones(1, 8),)


def shared(calls: int = 5000) -> Built:
    return Shared(calls), (torch.ones(1, 8),)


def nested(depth: int) -> Built:
    module: nn.Module = nn.Linear(8, 8)
    for _ in range(depth):
        module = nn.Sequential(module)
    return module, (torch.ones(1, 8),)


def cnn() -> Built:
    layers: list[nn.Module] = []
    width = 3
    for out in (64, 64, 128, 128, 256, 256, 512, 512):
        layers += [nn.Conv2d(width, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU()]
        width = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)), (
        torch.ones(1, 3, 64, 64),
    )


def resnet50() -> Built:
    import transformers

    return transformers.ResNetForImageClassification(transformers.ResNetConfig()), (torch.ones(1, 3, 224, 224),)


def vit() -> Built:
    import transformers

    return transformers.ViTForImageClassification(transformers.ViTConfig()), (torch.ones(1, 3, 224, 224),)


def bert() -> Built:
    import transformers

    return transformers.BertModel(transformers.BertConfig()), (torch.zeros(1, 128, dtype=torch.long),)


def gpt2() -> Built:
    import transformers

    return transformers.GPT2LMHeadModel(transformers.GPT2Config()), (torch.zeros(1, 128, dtype=torch.long),)


def llama70b_meta() -> Built:
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=8192,
        intermediate_size=28672,
        num_hidden_layers=80,
        num_attention_heads=64,
        num_key_value_heads=8,
        vocab_size=128256,
    )
    with torch.device("meta"):
        return transformers.LlamaForCausalLM(config), (torch.zeros(1, 2048, dtype=torch.long),)


MODELS: Mapping[str, Callable[[], Built]] = {
    "cnn": cnn,
    "deep": deep,
    "shared": shared,
    "resnet50": resnet50,
    "vit": vit,
    "bert": bert,
    "gpt2": gpt2,
    "llama70b_meta": llama70b_meta,
}
