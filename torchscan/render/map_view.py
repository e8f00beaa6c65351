"""Maps ready to draw: tiles with labels and words, chips for what has no width, and the largest modules as bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchscan.render.costs import Cost, times
from torchscan.render.fold import Block, Layout
from torchscan.render.icicle import Icicle, icicle, weigh
from torchscan.render.labels import shorten
from torchscan.render.module_rows import BlockCosts, Cell, cell
from torchscan.render.units import ELLIPSIS, TIMES, share
from torchscan.report.analysis import UNITS
from torchscan.report.metric import Number

SIGNS = {"worse": "▲", "better": "▼"}
"""Said by shape on each changed tile: colour alone must not carry it."""
LEVEL_HEIGHT = 26
TILE_HEIGHT = 24
MOST_CHIPS = 40
MOST_BARS = 15
STEPS = (0.01, 0.1)  # a change is small up to 1%, middling up to 10%, large above
_CHARACTER = 7.2  # mean width of a 12 px system font's bold character, so that no viewer lets a label overflow
_PADDING = 12
_SIGN_WIDTH = 22


@dataclass(frozen=True, slots=True)
class TileView:
    """A tile with its text. ``look`` is the class that decides fill and pattern."""

    id: int
    x: float
    y: int
    width: float
    label: str
    value: str
    shows_value: bool
    path: str
    title: str
    look: str


@dataclass(frozen=True, slots=True)
class Chip:
    """A block without width: zero, unknown, or counted elsewhere."""

    id: int
    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A block among the largest, its bar a share of the largest one's. ``outline`` is the base's share."""

    id: int
    name: str
    type: str
    cell: Cell
    share: str
    length: float
    outline: float | None


@dataclass(frozen=True, slots=True)
class MapView:
    """The map of one metric, and what it leaves out."""

    metric: str
    width: int
    height: int
    tiles: tuple[TileView, ...]
    chips: tuple[Chip, ...]
    more_chips: int
    culled: int
    gap: str  # why the blocks do not add up to the total
    bars: tuple[Bar, ...]


def map_view(
    metric: str,
    layout: Layout,
    costs: BlockCosts,
    *,
    compares: bool,
    most: int = 600,
    width: int = 1200,
    gap: str = "",
) -> MapView:
    """Lay out one metric's map. In a comparison a tile is as wide as the larger side, so removed work stays visible."""
    sizes = [cost.size for cost in costs.head]
    if costs.base:
        sizes = [max(size, old.size) for size, old in zip(sizes, costs.base, strict=True)]
    drawn = icicle(layout, weigh(layout, sizes), width=width, most=most)
    leaves = [index for index in drawn.without_width if not layout.blocks[index].children]
    chips = _chips(layout, leaves, costs)
    return MapView(
        metric=metric,
        width=width,
        height=max(LEVEL_HEIGHT, drawn.levels * LEVEL_HEIGHT),
        tiles=tuple(_tiles(metric, layout, costs, drawn, compares=compares)),
        chips=tuple(chips[:MOST_CHIPS]),
        more_chips=len(chips[MOST_CHIPS:]),
        culled=drawn.culled,
        gap=gap,
        bars=tuple(_bars(metric, layout, costs, compares=compares)),
    )


def run_name(block: Block) -> str:
    """Name a block with its count."""
    name = block.name or "model"
    return f"{name} {TIMES}{block.count}" if block.count > 1 else name


def _tiles(metric: str, layout: Layout, costs: BlockCosts, drawn: Icicle, *, compares: bool) -> list[TileView]:
    whole = costs.head[0]
    views = []
    for tile in drawn.tiles:
        index = tile.index
        block, copies = layout.blocks[index], layout.copies[index]
        head, old = costs.head[index], costs.base[index] if costs.base else None
        shown = cell(UNITS[metric], head, old, copies, compares=compares)
        drawn_as = look(head, old, compares=compares)
        sign = SIGNS.get(drawn_as.rstrip("123"), "")
        name = f"{sign} {run_name(block)}".lstrip()
        views.append(
            TileView(
                id=index,
                x=round(tile.x, 1),
                y=tile.level * LEVEL_HEIGHT,
                width=max(1.0, round(tile.width - 1, 1)),  # one unit of air between neighbours
                label=fitted(name, tile.width) or (sign if tile.width >= _SIGN_WIDTH else ""),
                value=(value := shown.change if sign else shown.text),
                shows_value=_has_room(name, value, tile.width),
                path=shorten(_copied(layout, index), 200),
                title=_title(run_name(block), block.module.type, shown, times(head, copies), whole),
                look=drawn_as,
            )
        )
    return views


def look(head: Cost, base: Cost | None, *, compares: bool) -> str:
    """Choose fill and pattern: status first, then presence, then the size of the change."""
    if base is not None and base.status == "absent":
        return "new"
    if head.status == "absent":
        return "gone"
    if head.status == "partial" or (base is not None and base.status == "partial"):
        return "part"
    if head.status != "complete" or base is None or not compares or head == base or base.status != "complete":
        return "same"
    old, new = base.known or 0, head.known or 0
    change = abs(new - old) / old if old > 0 else 1.0
    step = 1 + sum(change > cut for cut in STEPS)
    return f"{'worse' if new > old else 'better'}{step}"


def fitted(name: str, width: float) -> str:
    """Cut a name to a tile, or drop it where fewer than three of its characters fit."""
    most = int((width - _PADDING) / _CHARACTER)
    if most < min(3, len(name)):
        return ""
    return name if len(name) <= most else f"{name[: most - 1]}{ELLIPSIS}"


def _has_room(name: str, value: str, width: float) -> bool:
    return bool(value) and (len(name) + len(value) + 2) * _CHARACTER + _PADDING <= width


def _title(name: str, kind: str, shown: Cell, head: Cost, whole: Cost) -> str:
    parts = [name, kind, shown.text, shown.change]
    if head.status == whole.status == "complete" and head.known is not None and whole.known:
        parts.append(share(head.known, whole.known))
    if head.status == "partial":
        parts.append("lower bound")
    return shorten(", ".join(part for part in parts if part), 300)


def _chips(layout: Layout, leaves: Sequence[int], costs: BlockCosts) -> list[Chip]:
    """Group what has no width by name and state, what is unknown first."""
    found: dict[tuple[str, str], list[int]] = {}
    for index in leaves:
        head, old = costs.head[index], costs.base[index] if costs.base else None
        cost = old if head.status == "absent" and old is not None else head
        found.setdefault((_chip_name(layout, index), CHIP_STATES[_chip_state(cost)]), []).append(index)
    chips = []
    for (name, state), alike in found.items():
        count = sum(layout.copies[index] for index in alike)
        chips.append(Chip(alike[0], shorten(f"{name} {TIMES}{count}" if count > 1 else name, 40), state))
    return sorted(chips, key=lambda chip: chip.state == CHIP_STATES["zero"])


def _chip_name(layout: Layout, index: int) -> str:
    """Name a block so that it says something: a bare index needs the name above it."""
    name = layout.blocks[index].module.name or "model"
    above = layout.parents[index]
    return f"{layout.blocks[above].name}.{layout.blocks[index].name}" if name.isdigit() and above > 0 else name


CHIP_STATES = {
    "zero": "measured zero",
    "complete": "narrow",
    "partial": "nothing counted yet",
    "unavailable": "unavailable",
    "covered": "counted above",
    "absent": "not called",
}


def _chip_state(cost: Cost) -> str:
    return "zero" if cost.status == "complete" and not cost.known else cost.status


def _bars(metric: str, layout: Layout, costs: BlockCosts, *, compares: bool) -> list[Bar]:
    """Rank blocks without children by cost, or by change in a comparison. Only complete numbers are ranked."""
    ranked = sorted(_ranked(layout, costs, compares=compares), key=lambda each: (-each[0], each[3]))[:MOST_BARS]
    longest = max([max(size, before or 0) for _, size, before, _ in ranked], default=1)
    total = costs.head[0]
    return [
        Bar(
            id=index,
            name=shorten(_copied(layout, index), 60),
            type=layout.blocks[index].module.type,
            cell=cell(
                UNITS[metric],
                costs.head[index],
                None if before is None else costs.base[index],
                layout.copies[index],
                compares=compares,
            ),
            share=share(size, total.known) if total.status == "complete" and total.known else "",
            length=round(100 * size / longest, 2),
            outline=None if before is None else round(100 * before / longest, 2),
        )
        for _, size, before, index in ranked
    ]


_Ranked = tuple[Number, Number, Number | None, int]  # rank, size, size before or None, block


def _ranked(layout: Layout, costs: BlockCosts, *, compares: bool) -> Iterator[_Ranked]:
    for index, inside in enumerate(layout.below):
        head, copies = costs.head[index], layout.copies[index]
        if inside or head.status != "complete" or head.known is None:
            continue
        size = head.known * copies
        old = costs.base[index] if costs.base and compares else None
        if old is None:
            if size > 0:
                yield size, size, None, index
        elif old.status == "complete" and old.known is not None and old.known != head.known:
            before = old.known * copies
            yield abs(size - before), size, before, index


def _copied(layout: Layout, index: int) -> str:
    """Name a block by its whole path and how many modules it stands for."""
    path = layout.paths[index] or layout.blocks[index].name or "model"
    return f"{path} {TIMES}{layout.copies[index]}" if layout.copies[index] > 1 else path
