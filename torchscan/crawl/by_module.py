"""Operator counts by module, inclusive, under the labels of PyTorch's own counter."""

from __future__ import annotations

from torch import nn

from torchscan.crawl.record import Call

Counts = dict[str, int | float]


def operators_by_module(root: nn.Module, calls: list[Call]) -> dict[str, Counts]:
    """Add each module's operators to every module above it: ``Model.layer1.0`` -> ``{"aten.mm": FLOPs}``."""
    everything: Counts = {}
    name = type(root).__name__
    by_module: dict[str, Counts] = {"Global": everything, name: everything}
    for site in {id(call.site): call.site for call in calls}.values():
        operators = site.operators
        if not operators:
            continue
        _add(operators, everything)
        path = site.node.path
        while path:
            label = f"{name}.{path}"
            counts = by_module.get(label)
            if counts is None:
                by_module[label] = operators.copy()
            else:
                _add(operators, counts)
            path = path.rpartition(".")[0]
    return by_module if everything else {}


def _add(operators: Counts, counts: Counts) -> None:
    for operator, flops in operators.items():
        counts[operator] = counts.get(operator, 0) + flops
