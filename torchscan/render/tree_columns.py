"""The columns that the terminal's tree table can show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torchscan.render.costs import Cost, block_costs
from torchscan.render.fold import Layout
from torchscan.render.shapes import call_text, dtypes_and_devices, shape_text
from torchscan.render.units import AT_LEAST, NBSP, NONE, metric, share, text
from torchscan.report.analysis import UNITS, AnalysisReport, LayerReport


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and the cell of a block. Numbers stand right; ``widest`` cuts long texts."""

    heading: str
    cell: Callable[[Table, int], str]
    is_number: bool = True
    widest: int = 24


@dataclass(frozen=True, slots=True)
class Table:
    """A laid-out tree with the costs that its columns need."""

    layout: Layout
    report: AnalysisReport
    costs: Mapping[str, list[Cost]]

    def call(self, index: int) -> LayerReport | None:
        """Give the first call of a block's first member."""
        calls = self.layout.blocks[index].module.calls
        return calls[0] if calls else None


def costs_for(layout: Layout, report: AnalysisReport, names: set[str]) -> dict[str, list[Cost]]:
    """Add up what the chosen columns show. The root shows the report's own total, which counts shared storage once."""
    costs = block_costs(layout, sorted(names))
    for name, found in costs.items():
        total = report["totals"].get(name)
        if total is not None:
            found[0] = Cost(total["known_value"], total["status"])
    return costs


def _cost(name: str) -> Column:
    def cell(table: Table, index: int) -> str:
        cost = table.costs[name][index]
        if cost.known is None:
            return {"covered": "above", "absent": ""}.get(cost.status, NONE)
        number = text(cost.known, UNITS[name])
        each = f"{NBSP}ea" if table.layout.blocks[index].count > 1 and cost.known else ""
        return f"{AT_LEAST}{NBSP}{number}{each}" if cost.status == "partial" else f"{number}{each}"

    return Column(_HEADINGS[name], cell)


def _share(table: Table, index: int) -> str:
    cost, whole = table.costs["module_flops"][index], table.costs["module_flops"][0]
    if cost.status != "complete" or whole.status != "complete" or not whole.known or cost.known is None:
        return NONE
    return share(cost.known * table.layout.copies[index], whole.known)


def _of_call(write: Callable[[LayerReport], str]) -> Callable[[Table, int], str]:
    def cell(table: Table, index: int) -> str:
        call = table.call(index)
        return "not called" if call is None else write(call)

    return cell


def _described(position: int) -> Callable[[LayerReport], str]:
    def write(call: LayerReport) -> str:
        described: Any = call["output"]
        return ", ".join(dtypes_and_devices(described)[position]) or NONE

    return write


def _trainable(call: LayerReport) -> str:
    held, trained = (call["parameters"].get(name) for name in ("parameters", "trainable_parameters"))
    if held is None or trained is None or not held["known_value"]:
        return NONE
    if trained["known_value"] == held["known_value"]:
        return "yes"
    return "some" if trained["known_value"] else "no"


_HEADINGS = {
    "parameters": "Param #",
    "module_flops": "FLOPs",
    "operator_flops": "Op FLOPs",
    "macs": "MACs",
    "dmas": "DMAs",
}

COLUMNS: Mapping[str, Column] = {
    "type": Column("Type", lambda table, at: table.layout.blocks[at].module.type, is_number=False, widest=20),
    "output": Column("Output Shape", _of_call(lambda call: shape_text(call["output"])), is_number=False),
    "input": Column("Input Shape", _of_call(lambda call: call_text(call["input"])), is_number=False),
    "params": _cost("parameters"),
    "buffers": Column("Buffers", _of_call(lambda call: metric(call["buffers"].get("buffer_elements")))),
    "trainable": Column("Trainable", _of_call(_trainable), is_number=False),
    "calls": Column("Calls", lambda table, at: str(len(table.layout.blocks[at].module.calls))),
    "module_flops": _cost("module_flops"),
    "operator_flops": _cost("operator_flops"),
    "macs": _cost("macs"),
    "dmas": _cost("dmas"),
    "share": Column("Share", _share),
    "receptive_field": Column("RF", _of_call(lambda call: metric(call["metrics"].get("receptive_field")))),
    "dtype": Column("Dtype", _of_call(_described(0)), is_number=False),
    "device": Column("Device", _of_call(_described(1)), is_number=False),
}
DEFAULT_COLUMNS = ("type", "output", "params", "module_flops")
DROP_ORDER = ("trainable", "type", "output")
NEEDS = {"params": "parameters", "share": "module_flops"} | {
    name: name for name in ("module_flops", "operator_flops", "macs", "dmas")
}
