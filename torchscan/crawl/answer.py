"""What a caller's handler answered, checked: a number, None, or a MetricResult in the metric's unit."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Integral, Real
from typing import Any

from torchscan.crawl.estimate import ALL_METRICS, SCOPE, Estimate, Note, no_estimate
from torchscan.formulas.handler import ModuleHandler
from torchscan.report.analysis import MODULE_METRICS, NOT_APPLICABLE, UNITS
from torchscan.report.diagnostic import DiagnosticCode
from torchscan.report.metric import MetricResult, complete

_FIELDS = frozenset(MetricResult.__annotations__)


def callback_name(callback: Any) -> str:
    """Give the dotted name under which a callback was defined."""
    owner = callback if hasattr(callback, "__qualname__") else type(callback)
    return f"{owner.__module__}.{owner.__qualname__}"


def no_answer(handler: ModuleHandler, method: str, code: DiagnosticCode, reason: str) -> Estimate:
    """Give the estimate of a handler that said nothing usable: what it owns it still owns."""
    metrics = {metric: no_estimate(metric, method) for metric in MODULE_METRICS}
    return Estimate(metrics, handler.subtree_metrics, True, (Note(code, ALL_METRICS, f"{method}: {reason}"),))


def accept(metric: str, value: Any, method: str) -> tuple[MetricResult, DiagnosticCode | None, str]:
    """Check one value of a caller's handler: a number, None, or a MetricResult in the metric's unit."""
    if value is None:
        return no_estimate(metric, method), "custom_metric_unavailable", f"no {metric} was given"
    if isinstance(value, Mapping):
        return _accept_result(metric, value, method)
    if isinstance(value, bool) or not isinstance(value, Real):
        reason = f"{metric} must be a number, None or a MetricResult, got {type(value).__name__}"
        return no_estimate(metric, method), "custom_metric_invalid", reason
    number = _number(value)
    if number is None or (number < 0 and metric != "effective_padding"):
        return no_estimate(metric, method), "custom_metric_invalid", f"{metric} must be finite and not negative"
    return complete(number, unit=UNITS[metric], scope=SCOPE, method=method), None, ""


def _accept_result(
    metric: str, value: Mapping[str, Any], method: str
) -> tuple[MetricResult, DiagnosticCode | None, str]:
    problem = _problem(metric, value)
    if problem:
        return no_estimate(metric, method), "custom_metric_invalid", problem
    result: MetricResult = {**value}  # type: ignore[typeddict-item] # checked field by field above
    if result["status"] == "partial":
        return result, "custom_metric_partial", f"{metric} is a lower bound"
    if result["status"] == "unavailable" and result["method"] != NOT_APPLICABLE:
        return result, "custom_metric_unavailable", f"{metric} is unavailable"
    return result, None, ""


def _problem(metric: str, value: Mapping[str, Any]) -> str | None:
    if value.keys() != _FIELDS:
        return f"{metric} must have exactly the fields {', '.join(sorted(_FIELDS))}"
    if value["unit"] != UNITS[metric]:
        return f"{metric} must be in {UNITS[metric]}, got the unit {value['unit']!r}"
    if not isinstance(value["scope"], str) or not isinstance(value["method"], str):
        return f"scope and method of {metric} must be strings"
    number, known = value["value"], value["known_value"]
    valid = {
        "complete": _is_count(number) and _is_count(known) and number == known,
        "partial": number is None and _is_count(known),
        "unavailable": number is None and known is None,
    }
    status = value["status"]
    if not isinstance(status, str) or not valid.get(status, False):
        return f"{metric} has the status {status!r}, which does not fit its value and known_value"
    return None


def _is_count(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and _number(number) is not None


def _number(value: Any) -> int | float | None:
    """Give a plain number; None for one that is not finite, or that no reader of JSON can hold."""
    try:
        as_float = float(value)
    except OverflowError:
        return None
    if not isfinite(as_float):
        return None
    return int(value) if isinstance(value, Integral) else as_float
