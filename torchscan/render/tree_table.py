"""A summary for terminals: the module tree with costs, equal blocks folded, every number with its status."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import wrap

from torchscan.render.cells import cell_width, fit, pad
from torchscan.render.fold import SHORTEST_RUN, Layout, fold, lay_out
from torchscan.render.labels import visible
from torchscan.render.terminal import DEFAULT_WIDTH
from torchscan.render.tree import build_tree
from torchscan.render.tree_columns import COLUMNS, DEFAULT_COLUMNS, DROP_ORDER, NEEDS, Table, costs_for
from torchscan.render.tree_footer import footer
from torchscan.render.units import AT_LEAST, ELLIPSIS, NBSP, NONE, TIMES, ascii_text
from torchscan.report.analysis import AnalysisReport

_GAP = 2
_NARROWEST_LAYER = 16
_NEVER = 10**9
_LINES = str.maketrans({"├": "|", "└": "\\", "│": "|", "─": "-"})
_BOLD, _YELLOW, _PLAIN = "\x1b[1m", "\x1b[33m", "\x1b[0m"


def format_summary(
    report: AnalysisReport,
    *,
    columns: Sequence[str] | None = None,
    width: int | None = None,
    folded: bool = True,
    max_depth: int | None = None,
    ascii_only: bool = False,
    color: bool = False,
    most_rows: int | None = None,
) -> str:
    """Write an analysis as a tree with totals below it. A pure function: see ``terminal.detect`` for its options.

    ``columns`` chooses and orders what stands beside the layer. Runs of equal siblings are one row unless ``folded`` is
    False. ``width`` is in terminal cells, 80 by default. ``most_rows`` cuts long tables and says by how much.

    Raises:
        ValueError: an unknown column, a negative depth, or a width that leaves no room for the layer.
    """
    names = _checked(columns, width, max_depth)
    tree = build_tree(report["layers"], report["context"]["model_type"].lower())
    layout = lay_out(fold(tree, _codes(report), shortest_run=SHORTEST_RUN if folded else _NEVER))
    table = Table(layout, report, costs_for(layout, report, {NEEDS[name] for name in names if name in NEEDS}))
    if "share" in names and table.costs["module_flops"][0].status != "complete":
        names = [name for name in names if name != "share"]  # a share of a lower bound would be a lie
    visible_rows = [at for at, depth in enumerate(layout.depths) if max_depth is None or depth <= max_depth]
    shown = visible_rows if most_rows is None else visible_rows[:most_rows]
    total_width = DEFAULT_WIDTH if width is None else width
    write = _ascii if ascii_only else _unicode
    lines = _table_lines(table, shown, names, total_width, write)
    if len(shown) < len(visible_rows):
        hidden = len(visible_rows) - len(shown)
        lines.append(write(f"{ELLIPSIS} {hidden} rows hidden: max_depth, most_rows, report['layers']"))
    rule = ("-" if ascii_only else "─") * total_width
    legend = write(f"{AT_LEAST} lower bound   {NONE} unavailable   0 is a measured zero   {_counted(layout, shown)}")
    totals = footer(report, total_width, write)
    body = [rule, lines[0], rule, *lines[1:], rule, *totals, rule, *wrap(legend, total_width)]
    return _coloured(body, ascii_only=ascii_only) if color else "\n".join(body)


def _checked(columns: Sequence[str] | None, width: int | None, max_depth: int | None) -> list[str]:
    names = [name for name in (DEFAULT_COLUMNS if columns is None else columns) if name != "layer"]
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise ValueError(f"unknown columns {unknown}; choose from {['layer', *COLUMNS]}")
    if max_depth is not None and (type(max_depth) is not int or max_depth < 0):
        raise ValueError(f"max_depth must be None or an integer of at least 0, got {max_depth!r}")
    if width is not None and (type(width) is not int or width < _NARROWEST_LAYER):
        raise ValueError(f"width must be None or an integer of at least {_NARROWEST_LAYER}, got {width!r}")
    return names


def _codes(report: AnalysisReport) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for each in report["diagnostics"]:
        if "path" in each:
            found.setdefault(each["path"], set()).add(each["code"])
    return {path: frozenset(codes) for path, codes in found.items()}


def _counted(layout: Layout, shown: Sequence[int]) -> str:
    return f"{len(shown)} rows for {sum(layout.copies):,} modules"


def _table_lines(
    table: Table, shown: Sequence[int], names: Sequence[str], width: int, write: Callable[[str], str]
) -> list[str]:
    """Write heading and rows. What does not fit is dropped in a fixed order; the layer takes what is left."""
    kept = list(names)
    cells = {
        name: [
            COLUMNS[name].heading,
            *(write(fit(COLUMNS[name].cell(table, at), COLUMNS[name].widest)) for at in shown),
        ]
        for name in kept
    }
    widths = {name: max(map(cell_width, column)) for name, column in cells.items()}
    layers = ["Layer", *map(write, _layer_names(table.layout, shown))]
    needed = min(_NARROWEST_LAYER, max(map(cell_width, layers)))
    for name in [*DROP_ORDER, *reversed(names)]:
        if width - sum(widths[each] + _GAP for each in kept) >= needed:
            break
        if name in kept:
            kept.remove(name)
    room = width - sum(widths[name] + _GAP for name in kept)
    lines = []
    for at, layer in enumerate(layers):
        parts = [pad(fit(layer, room), room)]
        parts += [pad(cells[name][at], widths[name], right=COLUMNS[name].is_number) for name in kept]
        lines.append((" " * _GAP).join(parts).rstrip())
    return lines


def _layer_names(layout: Layout, shown: Sequence[int]) -> list[str]:
    """Draw the tree's lines. ``below`` holds what stands left of a block's children."""
    below: dict[int, str] = {0: ""}
    names = []
    kept = set(shown)
    for index, block in enumerate(layout.blocks):
        if index not in kept:
            continue
        parent = layout.parents[index]
        name = (block.name or "model") + (f" {TIMES}{block.count}" if block.count > 1 else "")
        if parent < 0:
            names.append(name)
            continue
        is_last = layout.blocks[parent].children[-1] is block
        names.append(f"{below[parent]}{'└─ ' if is_last else '├─ '}{name}")
        below[index] = below[parent] + ("   " if is_last else "│  ")
    return names


def _unicode(written: str) -> str:
    return visible(written).replace(NBSP, " ")


def _ascii(written: str) -> str:
    return ascii_text(visible(written)).translate(_LINES)


def _coloured(lines: Sequence[str], *, ascii_only: bool) -> str:
    """Mark what is not whole in yellow, headings in bold: nothing else, and never by colour alone."""
    marks = re.compile(r">=|(?<= )-(?= |$)" if ascii_only else f"{AT_LEAST}|{NONE}")
    written = [marks.sub(lambda found: f"{_YELLOW}{found[0]}{_PLAIN}", line) for line in lines]
    written[1] = f"{_BOLD}{lines[1]}{_PLAIN}"
    return "\n".join(written)
