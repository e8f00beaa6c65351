"""The module tree of a large page as HTML. Ten thousand rows in a template take longer than all else on the page.

Short tags on purpose, and end tags that HTML lets us omit are omitted. Pages with static evidence loop in their
template and take only the cells from here.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from torchscan.render.module_rows import Cell, Row
from torchscan.render.units import TIMES

DEEPEST_INDENT = 24


def tree_markup(rows: Iterable[Row]) -> Markup:
    """Write every row, without titles and evidence: the inspector shows both."""
    return Markup("".join([_row(row) for row in rows]))  # noqa: S704 # names and types are escaped below


def cells_markup(row: Row, *, with_exact: bool) -> Markup:
    """Write a row's name, type, calls, costs and marks."""
    return Markup(_cells(row, with_exact=with_exact))  # noqa: S704 # as above


def _row(row: Row) -> str:
    cells = _cells(row, with_exact=False)
    closes = "</details>" * row.closes
    if row.is_leaf:
        return f"<p class=r id=m{row.id}>{cells}\n{closes}\n"
    looks = f"{' open' if row.is_open else ''}{' class=deep' if row.depth > DEEPEST_INDENT else ''}"
    return f"<details id=m{row.id}{looks}><summary class=r>{cells}</summary>\n{closes}\n"


def _cells(row: Row, *, with_exact: bool) -> str:
    run = f" <em>{TIMES}{row.count}</em>" if row.count > 1 else ""
    costs = "".join([_cost(cell, with_exact=with_exact) for cell in row.cells])
    marks = ", ".join(row.tags)
    return f"<b>{escape(row.name)}{run}</b><i>{escape(row.type)}</i><i>{row.calls}</i>{costs}<i>{marks}</i>"


def _cost(cell: Cell, *, with_exact: bool) -> str:
    """Write one cost. Its texts are numbers and words of our own, so nothing in them needs escaping."""
    text, exact, change, direction, each = cell
    title = f' title="{exact}"' if exact and with_exact else ""
    below = f'<u class="{direction}">{change}</u>' if change else f"<u>{each} each</u>" if each else ""
    return f"<i{title}>{text}{below}</i>"
