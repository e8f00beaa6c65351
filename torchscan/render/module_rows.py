"""The rows of the module table: a flat list that a template turns into nested sections without recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torchscan.render.costs import Cost, times
from torchscan.render.evidence import Evidence
from torchscan.render.fold import Layout
from torchscan.render.labels import shorten
from torchscan.render.units import ARROW, AT_LEAST, NBSP, NONE, delta, exact, text
from torchscan.report.analysis import UNITS

COLUMNS = ("module_flops", "operator_flops", "macs", "dmas", "parameters")
DEEPEST_NESTING = 200  # the HTML parser stops nesting at 512; deeper rows stand side by side
OPEN_DEPTH = 2
_LONGEST_NAME = 120


class Cell(NamedTuple):
    """One number of a row. ``change`` and ``direction`` are empty where nothing changed or nothing may be said."""

    text: str
    exact: str = ""
    change: str = ""
    direction: str = ""  # "worse" or "better"
    each: str = ""  # what one member of a run costs


@dataclass(frozen=True, slots=True)
class Row:
    """One block. ``closes`` says how many open sections end behind it."""

    id: int
    name: str
    type: str
    calls: str
    count: int
    cells: tuple[Cell, ...]
    tags: tuple[str, ...]
    is_leaf: bool
    is_open: bool
    depth: int
    closes: int
    evidence: Evidence


class BlockCosts(NamedTuple):
    """Inclusive costs of one metric, by block position. ``base`` is empty without a comparison."""

    head: Sequence[Cost]
    base: Sequence[Cost]


def cell(unit: str, head: Cost, base: Cost | None, count: int, *, compares: bool, with_exact: bool = True) -> Cell:
    """Write a run's cost. ``compares`` is False where the two sides were not run alike."""
    after = times(head, count)
    before = after if base is None else times(base, count)
    if before == after or "absent" in (before.status, after.status):
        shown, one = (before, base or head) if after.status == "absent" else (after, head)
        each = _number(one, unit) if count > 1 and one.known else ""
        return Cell(_number(shown, unit), _exact(shown, unit) if with_exact else "", each=each)
    if not (compares and before.status == after.status == "complete"):
        return Cell(_number(after, unit), _both(before, after, unit), f"was {_number(before, unit)}")
    old, new = before.known or 0, after.known or 0
    direction = "worse" if new > old else "better"
    return Cell(text(new, unit), _both(before, after, unit), delta(old, new, unit), direction)


def _both(before: Cost, after: Cost, unit: str) -> str:
    return f"{_exact(before, unit)} {ARROW} {_exact(after, unit)}"


def _number(cost: Cost, unit: str) -> str:
    if cost.status == "covered":
        return "above"
    if cost.known is None:
        return "" if cost.status == "absent" else NONE
    number = text(cost.known, unit)
    return f"{AT_LEAST}{NBSP}{number}" if cost.status == "partial" else number


def _exact(cost: Cost, unit: str) -> str:
    if cost.status == "covered":
        return "counted by a module above"
    if cost.known is None:
        return "absent" if cost.status == "absent" else "unavailable"
    number = exact(cost.known, unit)
    return f"at least {number}" if cost.status == "partial" else number


def module_rows(
    layout: Layout,
    costs: Mapping[str, BlockCosts],
    tags: Sequence[tuple[str, ...]],
    evidence: Sequence[Evidence],
    opened: frozenset[int],
    withheld: frozenset[str],
    *,
    with_exact: bool,
) -> list[Row]:
    """Write one row per block, parents first. ``opened`` rows start open; ``withheld`` metrics show no change."""
    blocks, depths = layout.blocks, layout.depths
    columns = [
        _column(metric, layout, costs[metric], metric not in withheld, with_exact=with_exact) for metric in COLUMNS
    ]
    rows = []
    open_sections = 0
    for index, (block, cells) in enumerate(zip(blocks, zip(*columns, strict=True), strict=True)):
        depth = min(depths[index], DEEPEST_NESTING)
        after = min(depths[index + 1], DEEPEST_NESTING) if index + 1 < len(blocks) else 0
        nests = bool(block.children) and depth < DEEPEST_NESTING
        open_sections += nests
        closes = max(0, open_sections - after)
        open_sections -= closes
        rows.append(
            Row(
                id=index,
                name=shorten(block.name or "model", _LONGEST_NAME),
                type=block.module.type or "container",
                calls=str(len(block.module.calls)) if block.module.calls else "",
                count=block.count,
                cells=cells,
                tags=tags[index],
                is_leaf=not nests,
                is_open=nests and index in opened,
                depth=depth,
                closes=closes,
                evidence=evidence[index],
            )
        )
    return rows


def _column(metric: str, layout: Layout, costs: BlockCosts, compares: bool, *, with_exact: bool) -> list[Cell]:
    """Write one metric's cells. Equal costs share one."""
    unit = UNITS[metric]
    base: Sequence[Cost | None] = costs.base or [None] * len(costs.head)
    known: dict[tuple[Cost, Cost | None, int], Cell] = {}
    cells = []
    for key in zip(costs.head, base, layout.counts, strict=True):
        if key[1] is None and key[2] == 1 and not with_exact:  # a number alone is written faster than looked up
            cells.append(Cell(_number(key[0], unit)))
            continue
        found = known.get(key)
        if found is None:
            found = known[key] = cell(unit, *key, compares=compares, with_exact=with_exact)
        cells.append(found)
    return cells
