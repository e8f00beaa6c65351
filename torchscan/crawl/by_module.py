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
    above: dict[str, list[Counts]] = {"": [everything]}
    for site in {id(call.site): call.site for call in calls}.values():
        if not site.operators:
            continue
        counted_in = above.get(site.node.path) or _counted_in(site.node.path, name, by_module, above)
        for operator, flops in site.operators.items():
            for counts in counted_in:
                counts[operator] = counts.get(operator, 0) + flops
    return by_module if everything else {}


def _counted_in(path: str, name: str, by_module: dict[str, Counts], above: dict[str, list[Counts]]) -> list[Counts]:
    """Give the counts of a module and of all modules above it, made at the first operator inside."""
    known = above.get(path)
    if known is None:
        own: Counts = {}
        by_module[f"{name}.{path}"] = own
        known = above[path] = [own, *_counted_in(path.rpartition(".")[0], name, by_module, above)]
    return known
