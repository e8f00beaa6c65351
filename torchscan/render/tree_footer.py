"""The totals below the terminal's tree table, each with its status and the reason for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from textwrap import wrap

from torchscan.render.cells import pad
from torchscan.render.labels import state_label
from torchscan.render.units import TIMES, metric, text
from torchscan.report.analysis import AnalysisReport
from torchscan.report.metric import MetricResult

_COMPUTE = {
    "module_flops": "Module FLOPs",
    "operator_flops": "Operator FLOPs",
    "macs": "MACs",
    "operator_macs": "Operator MACs",
    "dmas": "DMAs",
}
_OPERATOR_METRICS = frozenset(("operator_flops", "operator_macs"))
_LABEL_WIDTH = 15
_VALUE_WIDTH = 11


def footer(report: AnalysisReport, width: int, write: Callable[[str], str]) -> list[str]:
    """Write the totals as aligned lines, long reasons wrapped under their beginning."""
    totals = report["totals"]
    lines = _line("Parameters", totals.get("parameters"), _trained(report), width, write)
    lines += _line("Model storage", _storage(report), _held(report), width, write)
    for name, label in _COMPUTE.items():
        if name in totals:
            lines += _line(label, totals[name], _reason(report, name), width, write)
    return lines


def _line(label: str, result: MetricResult | None, note: str, width: int, write: Callable[[str], str]) -> list[str]:
    start = f"{pad(label, _LABEL_WIDTH)}{pad(write(metric(result)), _VALUE_WIDTH, right=True)}  "
    indent = " " * min(len(start), width // 2)
    return wrap(write(note), width, initial_indent=start, subsequent_indent=indent) or [start.rstrip()]


def _trained(report: AnalysisReport) -> str:
    everything, trained = report["totals"].get("parameters"), report["totals"].get("trainable_parameters")
    if everything is None or trained is None or everything["value"] is None or trained["value"] is None:
        return state_label(everything)
    if everything["value"] == trained["value"]:
        return "all trainable" if everything["value"] else ""
    return f"{text(trained['value'], 'parameters')} trainable" if trained["value"] else "none trainable"


def _storage(report: AnalysisReport) -> MetricResult | None:
    """Add parameters and buffers: a bound where either is one, nothing where either is unknown."""
    parts = [report["totals"].get(name) for name in ("parameter_bytes", "buffer_bytes")]
    if parts[0] is None or parts[1] is None:
        return None
    known = [part["known_value"] for part in parts if part is not None]
    if known[0] is None or known[1] is None:
        return None
    whole = known[0] + known[1]
    is_whole = parts[0]["status"] == parts[1]["status"] == "complete"
    return {
        **parts[0],
        "status": "complete" if is_whole else "partial",
        "value": whole if is_whole else None,
        "known_value": whole,
    }


def _held(report: AnalysisReport) -> str:
    totals = report["totals"]
    return f"parameters {metric(totals.get('parameter_bytes'))}, buffers {metric(totals.get('buffer_bytes'))}"


def _reason(report: AnalysisReport, name: str) -> str:
    result = report["totals"][name]
    state = state_label(result)
    if state == "complete":
        return ""
    if state in ("measured zero", "not requested", "not applicable"):
        return state
    why = _operators(report) if name in _OPERATOR_METRICS else _modules(report, name)
    return f"{state}: {why}" if why else state


def _operators(report: AnalysisReport) -> str:
    counts = Counter(each["operator"] for each in report["diagnostics"] if "operator" in each)
    listed = [f"{name} {TIMES}{count}" if count > 1 else name for name, count in counts.most_common(3)]
    more = len(counts) - len(listed)
    return f"no formula for {', '.join(listed)}{f' and {more} more' if more else ''}" if listed else ""


def _modules(report: AnalysisReport, name: str) -> str:
    types = {row["path"]: row["type"] for row in report["layers"]}
    paths = {
        each["path"]
        for each in report["diagnostics"]
        if each.get("path") is not None and each["metric"] in (name, "module_metrics")
    }
    counts = Counter(types.get(path, "unknown") for path in sorted(paths))
    listed = [f"{kind} {TIMES}{count}" if count > 1 else kind for kind, count in counts.most_common(3)]
    more = len(counts) - len(listed)
    return f"no whole formula for {', '.join(listed)}{f' and {more} more' if more else ''}" if listed else ""
