"""Hooks on every module of a tree for the length of one forward, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from torchscan.crawl.recorder import Recorder
from torchscan.crawl.site import Site
from torchscan.crawl.tree import Node

_TABLES = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_always_called",
)


@contextmanager
def observed(nodes: list[Node], recorder: Recorder) -> Iterator[Site]:
    """Hook every observable module but the root; yield the root's site, as the crawl makes its one call itself."""
    key = object()  # no number that torch could hand out, and none of another analysis
    root = Site(nodes[0], recorder)
    attached: list[tuple[nn.Module, Site]] = []
    try:
        for node in nodes[1:]:
            if node.is_observable:
                site = Site(node, recorder)
                attached.append((node.module, site))
                try:
                    _attach(node.module, key, site)
                except Exception:  # noqa: BLE001 # a module whose hook tables are not torch's own: named, not hooked
                    recorder.refused.add(node.path)
        yield root
    finally:
        root.close()
        for module, site in attached:
            site.close()
            _detach(module, key)
        recorder.close()


def _attach(module: nn.Module, key: Any, site: Site) -> None:
    # Straight into the tables behind register_forward_hook: its handles cost 25 microseconds for a module.
    hooks: Any = module._forward_pre_hooks
    options: Any = module._forward_pre_hooks_with_kwargs
    if hooks:
        # The module's own pre-hooks (weight norm, lazy initialisation) are part of its call: begin before them.
        hooks[key, "prepared"] = site.prepared
        options[key, "prepared"] = True
        hooks[key] = site.before
        hooks.move_to_end(key, last=False)
    else:
        hooks[key] = site.before
    options[key] = True
    module._forward_hooks[key] = site.after
    module._forward_hooks_always_called[key] = True


def _detach(module: nn.Module, key: Any) -> None:
    for name in _TABLES:
        table: Any = getattr(module, name, None)
        if not isinstance(table, dict):
            continue  # this is why the module was not hooked
        table.pop(key, None)
        if table:
            table.pop((key, "prepared"), None)
        else:
            table.clear()  # an emptied table would keep the memory of its entry
