"""Hooks on every module of a tree for the length of one forward, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from torch import nn

from torchscan.crawl.recorder import Recorder
from torchscan.crawl.site import RootSite, Site
from torchscan.crawl.tree import Node

_TABLES = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_always_called",
)


@contextmanager
def observed(nodes: list[Node], recorder: Recorder) -> Iterator[Site]:
    """Hook every observable module; yield the root's site, as the crawl itself makes and notes its outermost call."""
    key = object()  # no number that torch could hand out, and none of another analysis
    root = RootSite(nodes[0], recorder)
    attached: list[tuple[nn.Module, Site]] = []
    try:
        attached.append((nodes[0].module, root))
        with suppress(Exception):  # a root that takes no hooks is noted all the same
            _attach(nodes[0].module, key, root, root.again, root.ended)
        for node in nodes[1:]:
            if node.is_observable:
                site = Site(node, recorder)
                attached.append((node.module, site))
                try:
                    _attach(node.module, key, site, site.before, site.after)
                except Exception:  # noqa: BLE001 # a module whose hook tables are not torch's own: named, not hooked
                    recorder.refused.add(node.path)
        yield root
    finally:
        for module, site in attached:
            site.close()
            _detach(module, key)
        recorder.close()


def _attach(module: nn.Module, key: Any, site: Site, before: Any, after: Any) -> None:
    # Straight into the tables behind register_forward_hook: its handles cost 25 microseconds for a module.
    hooks: Any = module._forward_pre_hooks
    options: Any = module._forward_pre_hooks_with_kwargs
    if hooks or module._forward_hooks:
        _attach_between(module, key, site)
    hooks[key] = before
    if len(hooks) > 1:
        hooks.move_to_end(key, last=False)
    options[key] = True
    module._forward_hooks[key] = after
    module._forward_hooks_always_called[key] = True


def _attach_between(module: nn.Module, key: Any, site: Site) -> None:
    """Stand between a module's own hooks and its forward: what hooks compute, no formula of the module knows."""
    hooks: Any = module._forward_pre_hooks
    options: Any = module._forward_pre_hooks_with_kwargs
    later: Any = module._forward_hooks
    if hooks:
        hooks[key, "between"] = site.prepared
        options[key, "between"] = True
    if hooks or later:  # also behind pre-hooks alone: only torch knows the arguments that they made
        later[key, "between"] = site.returned
        later.move_to_end((key, "between"), last=False)


def _detach(module: nn.Module, key: Any) -> None:
    for name in _TABLES:
        try:
            table: Any = getattr(module, name)
        except Exception:  # noqa: BLE001, S112 # this is why the module was not hooked; others are
            continue
        if not isinstance(table, dict):
            continue
        table.pop(key, None)
        table.pop((key, "between"), None)
        if not table:
            table.clear()  # an emptied table would keep the memory of its entry
