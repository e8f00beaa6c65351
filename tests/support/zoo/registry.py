"""Registry of the zoo: ``ZOO[name]()`` gives ``(module, args, kwargs)`` of a small random model that builds offline."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

for _key in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
    os.environ.setdefault(_key, "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

Built = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
ZOO: dict[str, Callable[[], Built]] = {}
FAMILY: dict[str, str] = {}


def entry(name: str, family: str) -> Callable[[Callable[[], Built]], Callable[[], Built]]:
    """Register a builder; building is seeded, so counts do not move between runs."""

    def wrap(build: Callable[[], Built]) -> Callable[[], Built]:
        def seeded() -> Built:
            torch.manual_seed(0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return build()

        if name in ZOO:
            raise KeyError(name)
        ZOO[name] = seeded
        FAMILY[name] = family
        return build

    return wrap


def tensors(value: Any) -> list[Tensor]:
    """All tensors inside a nested output (dataclass-like mappings, tuples, lists)."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for item in value.values() for t in tensors(item)]
    if isinstance(value, list | tuple):
        return [t for item in value for t in tensors(item)]
    return []
