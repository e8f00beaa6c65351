"""Operator counts by module, inclusive, under the labels of PyTorch's own counter."""

from __future__ import annotations

from torch import nn

from torchscan.crawl.record import Call

GLOBAL = "Global"


def operators_by_module(root: nn.Module, calls: list[Call]) -> dict[str, dict[str, int | float]]:
    """Add each module's operators to every module above it: ``Model.layer1.0`` -> ``{"aten.mm": FLOPs}``."""
    by_module: dict[str, dict[str, int | float]] = {}
    for site in {id(call.site): call.site for call in calls}.values():
        if site.operators:
            for label in _labels(type(root).__name__, site.node.path):
                counted = by_module.setdefault(label, {})
                for name, flops in site.operators.items():
                    counted[name] = counted.get(name, 0) + flops
    return by_module


def _labels(root: str, path: str) -> list[str]:
    """Name a module and everything above it, the whole run first."""
    parts = [root, *path.split(".")] if path else [root]
    return [GLOBAL, *(".".join(parts[:end]) for end in range(1, len(parts) + 1))]
