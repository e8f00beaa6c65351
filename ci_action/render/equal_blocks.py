"""Fold calls of repeated blocks: ``layers.0.mlp`` to ``layers.31.mlp`` with equal numbers are one line, not 32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

Call = tuple[str, int]
_MOST_LISTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Calls that differ in one index of their path alone: ``layers.{0…31}.mlp``."""

    path: str
    calls: tuple[Call, ...]


def fold(calls: Iterable[Call], key: Callable[[Call], Hashable]) -> list[Group]:
    """Group calls with the same ``key`` and the same path but for one index, in the order of their first members."""
    alike: dict[Hashable, list[Call]] = {}
    for call in calls:
        path, call_index = call
        alike.setdefault((_pattern(path), call_index, key(call)), []).append(call)
    return [group for members in alike.values() for group in _split(members)]


def _pattern(path: str) -> tuple[str, ...]:
    return tuple("#" if part.isdecimal() else part for part in path.split("."))


def _split(members: Sequence[Call]) -> list[Group]:
    paths = [path.split(".") for path, _ in members]
    varying = [place for place in range(len(paths[0])) if len({path[place] for path in paths}) > 1]
    if len(varying) != 1:
        return [Group(path=call[0], calls=(call,)) for call in members]
    place = varying[0]
    parts = [*paths[0]]
    parts[place] = f"{{{_indices([int(path[place]) for path in paths])}}}"
    return [Group(path=".".join(parts), calls=tuple(members))]


def _indices(found: Sequence[int]) -> str:
    """Write indices as a run where they are one, else the first few."""
    ordered = sorted(found)
    if len(ordered) > _MOST_LISTED - 1 and ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]}…{ordered[-1]}"
    listed = ",".join(map(str, ordered[:_MOST_LISTED]))
    return listed if len(ordered) <= _MOST_LISTED else f"{listed},…"
