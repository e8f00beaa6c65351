"""From a handler's answer to checked estimates of one call: the built-in formula's, or the caller's over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple

import torch
from torch import nn

from torchscan.crawl.configuration import configuration
from torchscan.formulas.dependencies import token_dependencies
from torchscan.formulas.handler import ModuleCall, ModuleHandler, UnsupportedCall
from torchscan.formulas.table import Match, handler_for
from torchscan.report.analysis import METHODS, MODULE_METRICS, UNITS
from torchscan.report.diagnostic import DiagnosticCode
from torchscan.report.metric import MetricResult, complete, unavailable

SCOPE = "module_call"
ALL_METRICS = "module_metrics"
"""What a diagnostic is about when a handler says nothing at all."""

_FIELDS = frozenset(MetricResult.__annotations__)


class Note(NamedTuple):
    """A diagnostic in the making: the path is added when the report is assembled."""

    code: DiagnosticCode
    metric: str
    message: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What handlers said about one call.

    Attributes:
        metrics: stated metrics. One that is not here falls back to the calls inside.
        subtree: metrics for which the call owns the work of every call inside it.
        is_custom: the caller's handler spoke.
    """

    metrics: Mapping[str, MetricResult]
    subtree: frozenset[str] = frozenset()
    is_custom: bool = False
    notes: tuple[Note, ...] = ()
    token_dependencies: dict[str, Any] | None = field(default=None)


class Estimator:
    """Finds the handler of each module type once, and asks it about calls."""

    __slots__ = ("_custom", "_matches", "_results", "_shared")

    def __init__(self, custom_modules: Mapping[type[nn.Module], ModuleHandler] | None) -> None:
        self._custom = dict(custom_modules or {})
        self._matches: dict[type[nn.Module], Match | None] = {}
        self._shared: dict[Any, Estimate] = {}
        self._results: dict[tuple[str, int | float], MetricResult] = {}

    def match(self, kind: type[nn.Module]) -> Match | None:
        """Give the handler of a module type: the caller's before the built-in."""
        if kind not in self._matches:
            self._matches[kind] = handler_for(kind, self._custom)
        return self._matches[kind]

    def estimate(self, match: Match, call: ModuleCall, shapes: Any = None) -> Estimate:
        """Ask the handler about a call that just returned.

        ``shapes`` stands for the shapes and dtypes of the call where an equal call of an equally configured module
        has an equal estimate; None where each call must be asked about.
        """
        if match.is_custom:
            return self._custom_estimate(match, call)
        configured = None if shapes is None else configuration(call.module)
        if configured is None:
            return self._built_in(match, call)
        key = (shapes, configured)
        known = self._shared.get(key)
        if known is None:
            known = self._shared[key] = self._built_in(match, call)
        return known

    def _built_in(self, match: Match, call: ModuleCall) -> Estimate:
        handler = match.handler
        try:
            answer: Mapping[str, Any] = handler.estimate(call)
        except UnsupportedCall as unsupported:
            missing = unsupported.metrics or MODULE_METRICS
            kind = type(call.module).__name__
            notes = tuple(
                Note("unsupported_module_metric", metric, f"no {metric} for this call of {kind}: {unsupported}")
                for metric in missing
            )
            return Estimate({metric: _unavailable(metric) for metric in missing}, handler.subtree_metrics, False, notes)
        except Exception as error:  # noqa: BLE001 # a formula that meets the unforeseen must not stop the analysis
            message = f"the built-in formula of {match.type.__name__} failed: {type(error).__name__}"
            return Estimate(
                {metric: _unavailable(metric) for metric in MODULE_METRICS},
                handler.subtree_metrics,
                notes=(Note("module_metric_error", ALL_METRICS, message),),
            )
        metrics = {metric: self._result(metric, value) for metric, value in answer.items()}
        for metric in handler.subtree_metrics.difference(metrics):
            metrics[metric] = _unavailable(metric)
        dependencies = token_dependencies(call)
        notes = () if dependencies is None else _dependency_notes(dependencies)
        return Estimate(metrics, handler.subtree_metrics, False, notes, dependencies)

    def _result(self, metric: str, value: Any) -> MetricResult:
        if isinstance(value, dict):
            return value  # type: ignore[return-value] # a built-in formula's own MetricResult
        if value is None:
            return _unavailable(metric)
        known = self._results.get((metric, value))
        if known is None:
            known = complete(value, unit=UNITS[metric], scope=SCOPE, method=METHODS[metric])
            self._results[metric, value] = known
        return known

    def _custom_estimate(self, match: Match, call: ModuleCall) -> Estimate:
        handler = match.handler
        method = f"custom_module_handler:{_name(handler.estimate)}"
        try:
            with torch.no_grad():
                answer: Any = handler.estimate(call)
        except Exception as error:  # noqa: BLE001 # the caller's callback: its failure is a diagnostic
            return _no_answer(handler, method, "custom_handler_error", f"it raised {type(error).__name__}: {error}")
        if not isinstance(answer, Mapping):
            return _no_answer(
                handler, method, "custom_handler_invalid", f"it must return a mapping, got {type(answer).__name__}"
            )
        metrics: dict[str, MetricResult] = {}
        notes: list[Note] = []
        for metric, value in answer.items():
            if metric not in MODULE_METRICS:
                message = f"{method} names an unknown metric {metric!r}; accepted: {', '.join(MODULE_METRICS)}"
                notes.append(Note("custom_metric_invalid", str(metric), message))
                continue
            metrics[metric], code, reason = _accept(metric, value, method)
            if code is not None:
                notes.append(Note(code, metric, f"{method}: {reason}"))
        return self._with_fallback(
            handler, call, Estimate(metrics, handler.subtree_metrics, True, tuple(notes)), method
        )

    def _with_fallback(self, handler: ModuleHandler, call: ModuleCall, stated: Estimate, method: str) -> Estimate:
        """Fill what the caller's handler left out: owned metrics are unavailable, others are the built-in formula's."""
        metrics, notes, subtree = dict(stated.metrics), list(stated.notes), stated.subtree
        for metric in sorted(handler.subtree_metrics.difference(metrics)):
            metrics[metric] = _unavailable(metric, method)
            message = f"{method} owns {metric} of its subtree and gave none"
            notes.append(Note("custom_metric_unavailable", metric, message))
        dependencies = None
        match = handler_for(type(call.module), {}) if len(metrics) < len(MODULE_METRICS) else None
        if match is not None:
            built_in = self._built_in(match, call)
            added = {metric: result for metric, result in built_in.metrics.items() if metric not in metrics}
            metrics |= added
            subtree |= built_in.subtree & added.keys()
            notes.extend(note for note in built_in.notes if note.metric in (*added, "token_dependencies"))
            dependencies = built_in.token_dependencies
        return Estimate(metrics, subtree, True, tuple(notes), dependencies)


def _unavailable(metric: str, method: str | None = None) -> MetricResult:
    return unavailable(unit=UNITS[metric], scope=SCOPE, method=method or METHODS[metric])


def _dependency_notes(dependencies: dict[str, Any]) -> tuple[Note, ...]:
    """Move the reason why dependencies are unavailable out of the row: it is a diagnostic's."""
    reason = dependencies.pop("reason", None)
    return () if reason is None else (Note("unsupported_token_dependency", "token_dependencies", reason),)


def _name(callback: Any) -> str:
    owner = callback if hasattr(callback, "__qualname__") else type(callback)
    return f"{owner.__module__}.{owner.__qualname__}"


def _no_answer(handler: ModuleHandler, method: str, code: DiagnosticCode, reason: str) -> Estimate:
    metrics = {metric: _unavailable(metric, method) for metric in MODULE_METRICS}
    return Estimate(metrics, handler.subtree_metrics, True, (Note(code, ALL_METRICS, f"{method}: {reason}"),))


def _accept(metric: str, value: Any, method: str) -> tuple[MetricResult, DiagnosticCode | None, str]:
    """Check one value of a caller's handler: a number, None, or a MetricResult in the metric's unit."""
    if value is None:
        return _unavailable(metric, method), "custom_metric_unavailable", f"no {metric} was given"
    if isinstance(value, Mapping):
        return _accept_result(metric, value, method)
    if isinstance(value, bool) or not isinstance(value, Real):
        reason = f"{metric} must be a number, None or a MetricResult, got {type(value).__name__}"
        return _unavailable(metric, method), "custom_metric_invalid", reason
    number = int(value) if isinstance(value, Integral) else float(value)
    if not isfinite(number) or (number < 0 and metric != "effective_padding"):
        return _unavailable(metric, method), "custom_metric_invalid", f"{metric} must be finite and not negative"
    return complete(number, unit=UNITS[metric], scope=SCOPE, method=method), None, ""


def _accept_result(
    metric: str, value: Mapping[str, Any], method: str
) -> tuple[MetricResult, DiagnosticCode | None, str]:
    problem = _problem(metric, value)
    if problem:
        return _unavailable(metric, method), "custom_metric_invalid", problem
    result: MetricResult = {**value}  # type: ignore[typeddict-item] # checked field by field above
    if result["status"] == "partial":
        return result, "custom_metric_partial", f"{metric} is a lower bound"
    if result["status"] == "unavailable" and result["method"] != "not_applicable":
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
        "complete": number is not None and number == known and _is_count(known),
        "partial": number is None and _is_count(known),
        "unavailable": number is None and known is None,
    }
    if not valid.get(value["status"], False):
        return f"{metric} has the status {value['status']!r}, which does not fit its value and known_value"
    return None


def _is_count(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and isfinite(number)
