"""The table that ``summary`` prints: five columns, then the totals. Incomplete totals never read as zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchscan.render.shapes import shape_text
from torchscan.render.tree import Module, build_tree
from torchscan.report.analysis import NOT_REQUESTED, AnalysisReport, LayerReport
from torchscan.report.metric import MetricResult, Number

WRAP_MODES = ("start", "mid", "end")
_GAP = "    "
_WIDEST = {"Layer": 40, "Type": 26, "Output Shape": 40}
_FOOTER = (
    ("Module-formula forward FLOPs", "module_flops"),
    ("Multiply-Accumulations", "macs"),
    ("Direct memory accesses", "dmas"),
    ("Operator forward FLOPs", "operator_flops"),
)


@dataclass(frozen=True, slots=True)
class _Row:
    """One line: a call of a module, under its tree prefix."""

    prefix: str
    name: str
    call: LayerReport | None
    hidden: tuple[Module, ...] = ()  # the module itself and what max_depth hides below it


def check_table_options(wrap_mode: str, max_depth: int | None) -> None:
    """Check the table's options before anything runs.

    Raises:
        ValueError: an unknown ``wrap_mode`` or a negative ``max_depth``.
    """
    if wrap_mode not in WRAP_MODES:
        raise ValueError(f"wrap_mode must be one of {', '.join(map(repr, WRAP_MODES))}, got {wrap_mode!r}")
    if max_depth is not None and (type(max_depth) is not int or max_depth < 0):
        raise ValueError(f"max_depth must be None or an integer of at least 0, got {max_depth!r}")


def summary_table(
    report: AnalysisReport,
    *,
    wrap_mode: str = "mid",
    max_depth: int | None = None,
    receptive_field: bool = False,
    effective_rf_stats: bool = False,
) -> str:
    """Write an analysis as a table.

    ``wrap_mode`` says where long names are cut: at their ``start``, ``mid`` or ``end``. ``max_depth`` hides modules
    below that depth and adds their parameters to the row above. ``receptive_field`` and ``effective_rf_stats`` add
    columns.

    Raises:
        ValueError: an unknown ``wrap_mode`` or a negative ``max_depth``.
    """
    check_table_options(wrap_mode, max_depth)
    columns: dict[str, Callable[[_Row], str]] = {
        "Layer": lambda row: row.prefix + row.name,
        "Type": lambda row: row.call["type"] if row.call else "",
        "Output Shape": lambda row: shape_text(row.call["output"]) if row.call else "not called",
        "Param #": _parameters,
        "Trainable": _trainable,
    }
    if receptive_field:
        columns["Receptive field"] = lambda row: _plain(row, "receptive_field")
    if effective_rf_stats:
        columns["Effective stride"] = lambda row: _plain(row, "effective_stride")
        columns["Effective padding"] = lambda row: _plain(row, "effective_padding")
    rows = _rows(report, max_depth)
    cells = [list(columns), *([_cut(cell(row), name, wrap_mode) for name, cell in columns.items()] for row in rows)]
    return _layout(cells, report["totals"])


def _rows(report: AnalysisReport, max_depth: int | None) -> list[_Row]:
    """List the visible calls with their tree prefixes, without recursion."""
    root = build_tree(report["layers"], report["context"]["model_type"].lower())
    rows: list[_Row] = []
    waiting: list[tuple[Module, str, str]] = [(root, "", "")]
    while waiting:
        module, prefix, below = waiting.pop()
        is_cut = max_depth is not None and module.depth >= max_depth
        hidden = tuple(module.walk()) if is_cut else (module,)
        calls: list[LayerReport | None] = [*module.calls] or [None]
        rows.extend(
            _Row(prefix, module.name if index == 0 else f"{module.name} (call {index})", call, hidden)
            for index, call in enumerate(calls)
        )
        if not is_cut:
            last = len(module.children) - 1
            waiting.extend(
                (child, below + ("└─ " if at == last else "├─ "), below + ("   " if at == last else "│  "))
                for at, child in reversed(list(enumerate(module.children)))
            )
    return rows


def _owned(row: _Row, name: str) -> list[MetricResult]:
    return [module.calls[0]["parameters"][name] for module in row.hidden if module.calls]


def _is_first(row: _Row) -> bool:
    return row.call is None or row.call is row.hidden[0].calls[0]


def _parameters(row: _Row) -> str:
    if not _is_first(row):
        return "reused"
    found = _owned(row, "parameters")
    known = [part["known_value"] for part in found if part["known_value"] is not None]
    if len(known) < len(found) and not known:
        return "unavailable"
    is_whole = all(part["status"] == "complete" for part in found)
    return f"{'' if is_whole else '>= '}{sum(known):,}"


def _trainable(row: _Row) -> str:
    if not _is_first(row):
        return ""
    trainable = sum(part["known_value"] or 0 for part in _owned(row, "trainable_parameters"))
    everything = sum(part["known_value"] or 0 for part in _owned(row, "parameters"))
    if everything == 0:
        return "-"
    return "Mixed" if 0 < trainable < everything else str(trainable > 0)


def _plain(row: _Row, name: str) -> str:
    result = row.call["metrics"].get(name) if row.call else None
    if result is None or result["known_value"] is None:
        return "-"
    return f"{'' if result['status'] == 'complete' else '>= '}{result['known_value']:,}"


def _cut(text: str, column: str, wrap_mode: str) -> str:
    width = _WIDEST.get(column, len(text))
    if len(text) <= width:
        return text
    kept = width - 3
    head = {"start": 0, "mid": (kept + 1) // 2, "end": kept}[wrap_mode]
    return f"{text[:head]}...{text[len(text) - (kept - head) :]}"


def _layout(cells: Sequence[Sequence[str]], totals: dict[str, MetricResult]) -> str:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    rule = sum(widths) + len(_GAP) * (len(widths) - 1)
    size = _sum(totals["parameter_bytes"], totals["buffer_bytes"])
    return "\n".join(
        [
            "_" * rule,
            lines[0],
            "=" * rule,
            *lines[1:],
            "=" * rule,
            f"Trainable params: {_count(totals['trainable_parameters'])}",
            f"Non-trainable params: {_count(totals['frozen_parameters'])}",
            f"Total params: {_count(totals['parameters'])}",
            "-" * rule,
            f"Model size (params + buffers): {size}",
            "-" * rule,
            *(f"{label}: {_prefixed(totals.get(name))}" for label, name in _FOOTER),
            "_" * rule,
        ]
    )


def _state(result: MetricResult | None) -> str:
    return "not requested" if result is not None and result["method"] == NOT_REQUESTED else "unavailable"


def _count(result: MetricResult) -> str:
    if result["known_value"] is None:
        return _state(result)
    return f"{'' if result['status'] == 'complete' else '>= '}{result['known_value']:,}"


def _sum(*parts: MetricResult) -> str:
    known = [part["known_value"] for part in parts if part["known_value"] is not None]
    if len(known) < len(parts):
        return "unavailable"
    is_whole = all(part["status"] == "complete" for part in parts)
    return f"{'' if is_whole else '>= '}{sum(known) / 1024**2:.2f} Mb"


def _prefixed(result: MetricResult | None) -> str:
    """Write a total with an SI prefix and two decimals, whole below 1,000."""
    if result is None or result["known_value"] is None:
        return _state(result)
    bound = "" if result["status"] == "complete" else ">= "
    value: Number = result["known_value"]
    prefixes = ["", "k", "M", "G", "T", "P", "E"]
    power = 0
    while abs(value) >= 1000 * 1000**power and power + 1 < len(prefixes):
        power += 1
    number = f"{value:,}" if power == 0 else f"{value / 1000**power:.2f}"
    return f"{bound}{number} {prefixes[power]}{result['unit']}"
