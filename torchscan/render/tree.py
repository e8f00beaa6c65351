"""Module calls as a tree of modules. Linear in the rows and free of recursion: a path may be as deep as it likes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from torchscan.report.analysis import LayerReport


@dataclass(slots=True)
class Module:
    """One module: its calls in execution order and the modules below it. A container that never ran has no calls."""

    path: str
    name: str
    depth: int
    calls: list[LayerReport] = field(default_factory=list)
    children: list[Module] = field(default_factory=list)

    @property
    def type(self) -> str:
        """The recorded type, or nothing for a module known only by the paths of its children."""
        return self.calls[0]["type"] if self.calls else ""

    def walk(self) -> Iterator[Module]:
        """Yield this module and everything below it, parents first, in order."""
        waiting = [self]
        while waiting:
            module = waiting.pop()
            yield module
            waiting.extend(reversed(module.children))


def build_tree(layers: Iterable[LayerReport], root_name: str) -> Module:
    """Arrange module calls by path. Parents that never ran are filled in, so every module hangs somewhere."""
    root = Module("", root_name, 0)
    modules = {"": root}
    for layer in layers:
        module = _module_at(layer["path"], modules)
        module.calls.append(layer)
        if layer["path"] == "" and layer["name"]:
            module.name = layer["name"]
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
