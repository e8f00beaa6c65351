"""Runs of equal siblings, shown once. Pure: the modules stay as they are, blocks only group them.

Siblings are equal when nothing but their index tells them apart: type, children, shapes, every metric's status, value
and method on both sides, and the codes of their diagnostics.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from torchscan.render.tree import Module
from torchscan.render.units import ELLIPSIS
from torchscan.report.analysis import LayerReport

SHORTEST_RUN = 3
_INDEX = re.compile(r"^(.*?)(\d+)$", re.DOTALL)
Codes = Mapping[str, frozenset[str]]  # path -> codes of its diagnostics


@dataclass(slots=True)
class Block:
    """A module, or a run of equal siblings of which the first stands for all."""

    members: tuple[Module, ...]
    children: list[Block] = field(default_factory=list)

    @property
    def module(self) -> Module:
        return self.members[0]

    @property
    def count(self) -> int:
        return len(self.members)

    @property
    def name(self) -> str:
        """The name, or ``{0…31}`` and ``layer{1…4}`` for a run."""
        if self.count == 1:
            return self.module.name
        (stem, first), (_, last) = _split(self.members[0].name), _split(self.members[-1].name)
        return f"{stem}{{{first}{ELLIPSIS}{last}}}"

    def walk(self) -> Iterator[Block]:
        """Yield this block and everything below it, parents first, in order."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.children))


def fold(root: Module, codes: Codes, *, shortest_run: int = SHORTEST_RUN) -> Block:
    """Group runs of at least ``shortest_run`` equal siblings. Only the first member's subtree is kept below a run."""
    kinds = _kinds(root, codes, shortest_run)
    top = Block((root,))
    waiting = [top]
    while waiting:
        block = waiting.pop()
        for members in _runs(block.module.children, kinds, shortest_run):
            block.children.append(Block(members))
        waiting.extend(block.children)
    return top


def unfold(block: Block) -> Iterator[Module]:
    """Yield every module that a block stands for, in order."""
    for member in block.members:
        yield from member.walk()


@dataclass(frozen=True, slots=True)
class Layout:
    """A folded tree as parallel lists, parents first: what every view walks over."""

    blocks: tuple[Block, ...]
    depths: tuple[int, ...]
    parents: tuple[int, ...]  # -1 for the root
    paths: tuple[str, ...]  # with runs spelled out: blocks.{0…11}.mlp
    copies: tuple[int, ...]  # how many modules a block stands for, runs inside runs multiplied
    counts: tuple[int, ...]  # how many members a block has
    below: tuple[tuple[int, ...], ...]  # the positions of a block's children


def lay_out(root: Block) -> Layout:
    """List a folded tree, without recursion."""
    blocks = tuple(root.walk())
    depths, parents, paths, copies = [0] * len(blocks), [-1] * len(blocks), [""] * len(blocks), [1] * len(blocks)
    position = {id(block): index for index, block in enumerate(blocks)}
    counts = tuple([len(block.members) for block in blocks])
    below = tuple([tuple([position[id(child)] for child in block.children]) for block in blocks])
    copies[0] = root.count
    for index, block in enumerate(blocks):
        for at, child in zip(below[index], block.children, strict=True):
            parents[at] = index
            depths[at] = depths[index] + 1
            copies[at] = copies[index] * counts[at]
            paths[at] = f"{paths[index]}.{child.name}" if paths[index] else child.name
    return Layout(blocks, tuple(depths), tuple(parents), tuple(paths), tuple(copies), counts, below)


def _runs(siblings: list[Module], kinds: Mapping[str, int], shortest_run: int) -> Iterator[tuple[Module, ...]]:
    run: list[Module] = []
    last: tuple[int | None, str] = (None, "")
    for module in siblings:
        kind = (kinds.get(module.path), _split(module.name)[0])
        if run and kind != last:
            yield from _grouped(run, shortest_run)
            run = []
        run.append(module)
        last = kind
    yield from _grouped(run, shortest_run)


def _grouped(run: list[Module], shortest_run: int) -> Iterator[tuple[Module, ...]]:
    if len(run) >= shortest_run and _split(run[0].name)[1]:
        yield tuple(run)
    else:
        yield from ((module,) for module in run)


@lru_cache(maxsize=4096)
def _split(name: str) -> tuple[str, str]:
    """Split a name into its stem and its index, which is empty for a name without one."""
    found = _INDEX.match(name)
    return (found[1], found[2]) if found else (name, "")


def _kinds(root: Module, codes: Codes, shortest_run: int) -> dict[str, int]:
    """Number the modules that may fold, and those below them, so that equal ones get equal numbers."""
    numbers: dict[Any, int] = {}
    kinds: dict[str, int] = {}
    sign = _Signature()
    for module in reversed(_foldable(root, shortest_run)):  # children are numbered before their parents
        signature = (
            codes.get(module.path, frozenset()),
            tuple([sign.call(call) for call in module.calls]),
            tuple([sign.call(call) for call in module.base_calls]),
            tuple([(child.name, kinds[child.path]) for child in module.children]),
        )
        kinds[module.path] = numbers.setdefault(signature, len(numbers))
    return kinds


def _foldable(root: Module, shortest_run: int) -> list[Module]:
    """List what stands in a run of names that differ by their index alone, or below one: the rest need not be read."""
    found = []
    waiting = [(root, False)]
    while waiting:
        module, may_fold = waiting.pop()
        if may_fold:
            found.append(module)
        alike = Counter([] if may_fold else [_split(child.name)[0] for child in module.children])
        waiting.extend(
            [(child, may_fold or alike[_split(child.name)[0]] >= shortest_run) for child in reversed(module.children)]
        )
    return found


class _Signature:
    """What a call looks like without its path. Descriptions that are one object are read once."""

    def __init__(self) -> None:
        self._described: dict[int, str] = {}

    def call(self, layer: LayerReport) -> tuple[Any, ...]:
        return (
            layer["type"],
            self._text(layer["input"]),
            self._text(layer["output"]),
            _numbers(layer["metrics"]),
            _numbers(layer["parameters"]),
            _numbers(layer["buffers"]),
            tuple(layer.get("metric_owners", ())),
            repr(layer["token_dependencies"]) if "token_dependencies" in layer else "",
        )

    def _text(self, described: Mapping[str, Any]) -> str:
        known = self._described.get(id(described))
        if known is None:
            known = self._described[id(described)] = repr(described)
        return known


def _numbers(metrics: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*metrics, *[tuple(each.values()) for each in metrics.values()])
