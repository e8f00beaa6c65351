"""Module calls as a tree of modules. Linear in the rows and free of recursion: a path may be as deep as it likes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from torchscan.report.analysis import LayerReport


@dataclass(slots=True)
class Module:
    """One module: its calls in execution order and the modules below it.

    A container that never ran has no calls. ``base_calls`` are the calls of the earlier report in a comparison.
    """

    path: str
    name: str
    depth: int
    calls: list[LayerReport] = field(default_factory=list)
    base_calls: list[LayerReport] = field(default_factory=list)
    children: list[Module] = field(default_factory=list)

    @property
    def type(self) -> str:
        """The recorded type, or nothing for a module known only by the paths of its children."""
        calls = self.calls or self.base_calls
        return calls[0]["type"] if calls else ""

    def walk(self) -> Iterator[Module]:
        """Yield this module and everything below it, parents first, in order."""
        waiting = [self]
        while waiting:
            module = waiting.pop()
            yield module
            waiting.extend(reversed(module.children))


def build_tree(layers: Iterable[LayerReport], root_name: str, base: Iterable[LayerReport] = ()) -> Module:
    """Arrange module calls by path. Parents that never ran are filled in, so every module hangs somewhere.

    Modules that only ``base`` has stand behind the sibling that they followed there.
    """
    root = Module("", root_name, 0)
    modules = {"": root}
    for layer in layers:
        module = _module_at(layer["path"], modules)
        module.calls.append(layer)
        if module is root and layer["name"]:
            root.name = layer["name"]
    before = _Earlier(modules)
    for layer in base:
        before.add(layer)
    before.merge()
    return root


def _module_at(path: str, modules: dict[str, Module]) -> Module:
    """Find a module, or hang it and its missing parents into the tree."""
    missing = []
    above = path
    while above not in modules:
        missing.append(above)
        above = above.rpartition(".")[0]
    parent = modules[above]
    for each in reversed(missing):
        child = Module(each, each.rpartition(".")[2], parent.depth + 1)
        parent.children.append(child)
        parent = modules[each] = child
    return parent


class _Earlier:
    """Hangs the modules of an earlier report into a tree and remembers which sibling they followed."""

    def __init__(self, modules: dict[str, Module]) -> None:
        self._modules = modules
        self._kept = set(modules)
        self._last: dict[str, str] = {}  # parent path -> the last sibling of both reports seen under it
        self._behind: dict[str, dict[str, list[Module]]] = {}  # parent -> sibling of both -> removed ones after it
        self._placed: set[str] = set()

    def add(self, layer: LayerReport) -> None:
        path = layer["path"]
        known = len(self._modules)
        module = _module_at(path, self._modules)
        module.base_calls.append(layer)
        if path in self._kept:
            if path:
                self._last[path.rpartition(".")[0]] = path
        elif len(self._modules) > known:
            self._place(path)

    def _place(self, path: str) -> None:
        """Note the topmost module that this call added, under the sibling that it follows."""
        while (parent := path.rpartition(".")[0]) not in self._kept:
            path = parent
        if path not in self._placed:
            self._placed.add(path)
            slots = self._behind.setdefault(parent, {})
            slots.setdefault(self._last.get(parent, ""), []).append(self._modules[path])

    def merge(self) -> None:
        for parent, slots in self._behind.items():
            module = self._modules[parent]
            kept = [child for child in module.children if child.path in self._kept]
            module.children = list(slots.get("", ()))
            for child in kept:
                module.children.append(child)
                module.children.extend(slots.get(child.path, ()))
