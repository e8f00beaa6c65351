"""What changed between two analyses. It states differences; whether they are acceptable is not its business."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from torchscan.compare.match import Identity, pairs
from torchscan.report.analysis import TOTALS, AnalysisReport, LayerReport
from torchscan.report.diff import LayerChange, LayerIdentity, MetricDelta, ReportDiff
from torchscan.report.metric import MetricResult, Status
from torchscan.report.schema import SCHEMA_VERSION

_STRENGTH: dict[Status, int] = {"complete": 2, "partial": 1, "unavailable": 0}


def compare_reports(before: AnalysisReport, after: AnalysisReport) -> ReportDiff:
    """Compare totals, layer-call metrics and token dependencies of two reports.

    Module calls are matched by full path and call index. A delta is given only where both sides are complete; else it
    is null and the status is the weaker of the two. Neither report is changed; the difference refers to their results
    instead of copying them.

    Raises:
        ValueError: the schema versions differ or are not ours, both sides measured a metric by different methods,
            units or scopes, or a report lists one module call twice.
    """
    _check_versions(before, after)
    diff: ReportDiff = {
        "schema_version": SCHEMA_VERSION,
        "totals": _total_deltas(before["totals"], after["totals"]),
        "layers": {"added": [], "removed": [], "changed": []},
    }
    for identity, old, new in pairs(before, after):
        if old is None and new is not None:
            diff["layers"]["added"].append(_identity(new))
        elif new is None and old is not None:
            diff["layers"]["removed"].append(_identity(old))
        elif old is not None and new is not None and (change := _change(identity, old, new)):
            diff["layers"]["changed"].append(change)
    return diff


def metric_delta(
    before: MetricResult | None, after: MetricResult | None, name: str, call: Identity | None = None
) -> MetricDelta:
    """Compare two results of one metric.

    Raises:
        ValueError: both sides measured something, but not the same thing.
    """
    if before is None or after is None:
        return {"status": "unavailable", "delta": None, "before": before, "after": after}
    if before["known_value"] is not None and after["known_value"] is not None:
        _check_comparable(before, after, name, call)
    status = min(before["status"], after["status"], key=_STRENGTH.__getitem__)
    delta = None
    if before["value"] is not None and after["value"] is not None:
        delta = after["value"] - before["value"]
    return {"status": status, "delta": delta, "before": before, "after": after}


def _check_versions(before: AnalysisReport, after: AnalysisReport) -> None:
    versions = before["schema_version"], after["schema_version"]
    if versions != (SCHEMA_VERSION, SCHEMA_VERSION):
        raise ValueError(
            f"cannot compare reports of schema versions {versions[0]!r} (before) and {versions[1]!r} (after): "
            f"both must be {SCHEMA_VERSION}; analyse both sides with one torchscan version"
        )


def _check_comparable(before: MetricResult, after: MetricResult, name: str, call: Identity | None) -> None:
    for field, old, new in (
        ("method", before["method"], after["method"]),
        ("unit", before["unit"], after["unit"]),
        ("scope", before["scope"], after["scope"]),
    ):
        if old != new:
            where = "totals" if call is None else f"call {call[1]} of module {call[0]!r}"
            raise ValueError(
                f"{where}: {name} cannot be compared: its {field} was {old!r} before and is {new!r} after; "
                "analyse both sides with the same torchscan version and the same custom formulas"
            )


def _total_deltas(before: dict[str, MetricResult], after: dict[str, MetricResult]) -> dict[str, MetricDelta]:
    names = [name for name in dict.fromkeys([*TOTALS, *before, *after]) if name in before or name in after]
    return {name: metric_delta(before.get(name), after.get(name), name) for name in names}


def _changed_metrics(
    before: dict[str, MetricResult], after: dict[str, MetricResult], call: Identity
) -> dict[str, MetricDelta]:
    changed = {}
    for name in after if before.keys() == after.keys() else dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old != new:
            changed[name] = metric_delta(old, new, name, call)
    return changed


def _identity(layer: LayerReport) -> LayerIdentity:
    return {"path": layer["path"], "call_index": layer["call_index"], "type": layer["type"]}


def _change(identity: Identity, old: LayerReport, new: LayerReport) -> LayerChange | None:
    """Give what differs between two sides of one call, or None where nothing does."""
    dependencies: tuple[Any, Any] = old.get("token_dependencies"), new.get("token_dependencies")
    # A report of an older version has no dependencies at all: that alone is no change of the model.
    rewired = None not in dependencies and dependencies[0] != dependencies[1]
    if old["type"] == new["type"] and old["metrics"] == new["metrics"] and not rewired:
        return None
    path, call_index = identity
    change: LayerChange = {
        "path": path,
        "call_index": call_index,
        "type": {"before": old["type"], "after": new["type"]},
        "metrics": _changed_metrics(old["metrics"], new["metrics"], identity),
    }
    if dependencies != (None, None):
        change["token_dependencies"] = {"before": deepcopy(dependencies[0]), "after": deepcopy(dependencies[1])}
    return change
