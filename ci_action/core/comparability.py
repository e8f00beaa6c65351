"""Why two measurements of one target may not be held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ci_action.core.metrics import METRICS
from torchscan.compare.context import execution_differences, fact
from torchscan.compare.reports import compare_reports

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from torchscan.report.analysis import AnalysisReport, LayerReport
    from torchscan.report.diff import ReportDiff
    from torchscan.report.metric import MetricResult

_WORDS = {
    "torch_version": "torch",
    "python_version": "Python",
    "execution_mode": "execution mode",
    "devices": "devices",
    "dtypes": "dtypes",
    "analysis_mode": "analysis mode",
    "torchscan_version": "torchscan",
}
_FIELDS = ("method", "unit", "scope")


def diff_and_refusals(base: AnalysisReport, head: AnalysisReport) -> tuple[ReportDiff | None, dict[str, str]]:
    """Compare two reports as far as they can be, and say for each metric that cannot why not.

    The library refuses a whole pair for one metric; here that metric is left out and the rest is compared.
    """
    try:
        return compare_reports(base, head), {}
    except ValueError:
        refused = {name: why for name in METRICS if (why := _refusal(name, base, head))}
    rest = [name for name in METRICS if name not in refused]
    if not rest:
        return None, refused
    try:
        return compare_reports(_only(base, rest), _only(head, rest)), refused
    except ValueError as error:
        return None, dict.fromkeys(METRICS, str(error))


def context_changes(base: AnalysisReport, head: AnalysisReport) -> str:
    """Return what differs between the two runs, or nothing where execution metrics can be compared."""
    differing = execution_differences(base, head)
    changes = [
        f"{words} {_short(fact(base, name))} → {_short(fact(head, name))}"
        for name, words in _WORDS.items()
        if name in differing
    ]
    return ", ".join([*changes, "the inputs differ"] if "inputs" in differing else changes)


def _short(value: object) -> str:
    if value is None:
        return "not recorded"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _refusal(name: str, base: AnalysisReport, head: AnalysisReport) -> str:
    try:
        compare_reports(_only(base, [name]), _only(head, [name]))
    except ValueError as error:
        old, new = base["totals"].get(name), head["totals"].get(name)
        return _field_change(old, new) or (
            "the method of a module call differs" if _listed_once(base, head) else str(error)
        )
    return ""


def _listed_once(*reports: AnalysisReport) -> bool:
    """Whether each report is sound by itself: then a refusal speaks of one metric, else of the whole pair."""
    try:
        return all(compare_reports(report, report) is not None for report in reports)
    except ValueError:
        return False


def _field_change(base: MetricResult | None, head: MetricResult | None) -> str:
    for field in _FIELDS if base and head else ():
        old, new = (cast("dict[str, Any]", side)[field] for side in (base, head))
        if old != new:
            return f"its {field} was {old} and is {new}"
    return ""


def _only(report: AnalysisReport, names: Collection[str]) -> AnalysisReport:
    """Give the report with some of its metrics alone."""
    layers = [
        cast("LayerReport", {**layer, "metrics": _pick(layer["metrics"].items(), names)}) for layer in report["layers"]
    ]
    return {**report, "totals": _pick(report["totals"].items(), names), "layers": layers}


def _pick(items: Iterable[tuple[str, MetricResult]], names: Collection[str]) -> dict[str, MetricResult]:
    return {name: result for name, result in items if name in names}
