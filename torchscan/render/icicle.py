"""The geometry of a module map: one tile per block, rows are depth, width is cost. Numbers only, no markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

from torchscan.render.fold import Layout
from torchscan.report.metric import Number

SMALLEST_TILE = 1.0  # narrower than this is not drawn: nobody sees it and nobody can click it


@dataclass(frozen=True, slots=True)
class Tile:
    """A drawn block, in the map's own units."""

    index: int
    level: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Icicle:
    """A drawn map. Blocks that are not drawn are either too narrow, too deep, or have no width at all."""

    tiles: tuple[Tile, ...]
    width: float
    levels: int
    culled: int
    without_width: tuple[int, ...]


def weigh(layout: Layout, sizes: Sequence[Number]) -> list[Number]:
    """Give each block the weight of all its members, never less than what is below it.

    ``sizes`` holds the inclusive size of one member of each block.
    """
    weights: list[Number] = [0] * len(sizes)
    below: list[Number] = [0] * len(sizes)
    parents, counts = layout.parents, layout.counts
    for index in range(len(sizes) - 1, -1, -1):
        weights[index] = weight = max(sizes[index], below[index]) * counts[index]
        if index:
            below[parents[index]] += weight
    return weights


def icicle(
    layout: Layout, weights: Sequence[Number], *, width: float = 1200.0, levels: int = 24, most: int = 600
) -> Icicle:
    """Place the blocks. A run's children share its whole width. At most ``most`` tiles are drawn, the widest ones."""
    if not weights or weights[0] <= 0:
        return Icicle((), width, 0, 0, tuple(range(len(weights))))
    placed = _place(layout, weights, width, levels)
    smallest = SMALLEST_TILE
    if len(placed) > most:
        smallest = max(smallest, nlargest(most, [tile.width for tile in placed])[-1])
    tiles = tuple([tile for tile in placed if tile.width >= smallest][:most])
    without = tuple([index for index, weight in enumerate(weights) if weight <= 0])
    return Icicle(
        tiles=tiles,
        width=width,
        levels=1 + max(tile.level for tile in tiles),
        culled=len(weights) - len(tiles) - len(without),
        without_width=without,
    )


def _place(layout: Layout, weights: Sequence[Number], width: float, levels: int) -> list[Tile]:
    """Place every block that is wide and shallow enough, in the order of the tree."""
    edges = [0.0] * len(weights)  # where a block's next child begins
    units = [0.0] * len(weights)  # width per weight among a block's children
    edges[0], units[0] = 0.0, width / weights[0] * layout.counts[0]
    placed = [Tile(0, 0, 0.0, width)]
    parents, depths, counts = layout.parents, layout.depths, layout.counts
    for index in range(1, len(weights)):
        parent = parents[index]
        wide = weights[index] * units[parent]
        # A run of n shows one subtree across the whole run, so its children are drawn n times as wide.
        edges[index], units[index] = edges[parent], units[parent] * counts[index]
        edges[parent] += wide
        if wide >= SMALLEST_TILE and depths[index] < levels:
            placed.append(Tile(index, depths[index], edges[index], wide))
    return placed
