"""How the zoo builds a transformers model from a shrunken config: nothing is downloaded."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from support.zoo.registry import Built, entry
from torch import Tensor


def T(name: str) -> Any:
    """A class of transformers, by name (imported lazily, so that importing the zoo stays cheap)."""
    return getattr(importlib.import_module("transformers"), name)


def _ids(vocab: int = 64, length: int = 12, batch: int = 2, low: int = 5) -> Tensor:
    return torch.randint(low, vocab, (batch, length))


def _image(size: int = 32, channels: int = 3, batch: int = 1) -> Tensor:
    return torch.rand(batch, channels, size, size)


def hf(
    name: str,
    family: str,
    model: str,
    config: str,
    inputs: Callable[[], dict],
    prepare: Callable | None = None,
    **options: Any,
) -> None:
    """Register a transformers model built from ``config(**options)``; callables among options are built late."""

    @entry(name, family)
    def _() -> Built:
        settings = {key: value() if callable(value) else value for key, value in options.items()}
        cfg = T(config)(**settings)
        net = T(model)(cfg)
        if prepare is not None:
            prepare(net)
        return net.eval(), (), inputs()


TEXT = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
CAUSAL = {**TEXT, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "use_cache": False}
VIT = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "image_size": 32,
    "patch_size": 8,
}


def tokens(**kw: Any) -> Callable[[], dict]:
    return lambda: {"input_ids": _ids(**kw)}


def masked(**kw: Any) -> Callable[[], dict]:
    def make() -> dict:
        ids = _ids(**kw)
        mask = torch.ones_like(ids)
        mask[0, -3:] = 0
        return {"input_ids": ids, "attention_mask": mask}

    return make


def pixels(size: int = 32, batch: int = 1) -> Callable[[], dict]:
    return lambda: {"pixel_values": _image(size, batch=batch)}


def seq2seq(**kw: Any) -> Callable[[], dict]:
    return lambda: {"input_ids": _ids(**kw), "decoder_input_ids": _ids(length=6), "use_cache": False}
