"""Asking handlers: the caller's before the built-in formula, and the built-in for what the caller leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from torchscan.crawl.answer import accept, callback_name, no_answer
from torchscan.crawl.configuration import configuration
from torchscan.crawl.estimate import ALL_METRICS, SCOPE, Estimate, Note, no_estimate
from torchscan.formulas.dependencies import token_dependencies
from torchscan.formulas.family import WORK_METRICS
from torchscan.formulas.handler import ChangedBoundary, ModuleCall, ModuleHandler, UnsupportedCall
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.table import Match, handler_for
from torchscan.report.analysis import METHODS, MODULE_METRICS, UNITS
from torchscan.report.metric import MetricResult, complete

_NO_FIELD: dict[str, Any] = {**NOWHERE}


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
        except ChangedBoundary as changed:
            message = f"{type(call.module).__name__} counts as what runs inside it: {changed}"
            return Estimate(_NO_FIELD, notes=tuple(Note(changed.code, metric, message) for metric in WORK_METRICS))
        except UnsupportedCall as unsupported:
            missing = unsupported.metrics or MODULE_METRICS
            kind = type(call.module).__name__
            notes = tuple(
                Note(unsupported.code, metric, f"no {metric} for this call of {kind}: {unsupported}")
                for metric in missing
            )
            return Estimate({metric: no_estimate(metric) for metric in missing}, handler.subtree_metrics, False, notes)
        except Exception as error:  # noqa: BLE001 # a formula that meets the unforeseen must not stop the analysis
            message = f"the built-in formula of {match.type.__name__} failed: {type(error).__name__}"
            return Estimate(
                {metric: no_estimate(metric) for metric in MODULE_METRICS},
                handler.subtree_metrics,
                notes=(Note("module_metric_error", ALL_METRICS, message),),
            )
        metrics = {metric: self._result(metric, value) for metric, value in answer.items()}
        for metric in sorted(handler.subtree_metrics.difference(metrics)):
            metrics[metric] = no_estimate(metric)
        dependencies = token_dependencies(call)
        notes = () if dependencies is None else _dependency_notes(dependencies)
        return Estimate(metrics, handler.subtree_metrics, False, notes, dependencies)

    def _result(self, metric: str, value: Any) -> MetricResult:
        if isinstance(value, dict):
            return value  # type: ignore[return-value] # a built-in formula's own MetricResult
        if value is None:
            return no_estimate(metric)
        known = self._results.get((metric, value))
        if known is None:
            known = complete(value, unit=UNITS[metric], scope=SCOPE, method=METHODS[metric])
            self._results[metric, value] = known
        return known

    def _custom_estimate(self, match: Match, call: ModuleCall) -> Estimate:
        handler = match.handler
        method = f"custom_module_handler:{callback_name(handler.estimate)}"
        try:
            with torch.no_grad():
                answer: Any = handler.estimate(call)
            answer = dict(answer) if isinstance(answer, Mapping) else answer
        except Exception as error:  # noqa: BLE001 # the caller's callback: its failure is a diagnostic
            return no_answer(handler, method, "custom_handler_error", f"it raised {type(error).__name__}: {error}")
        if not isinstance(answer, dict):
            return no_answer(
                handler, method, "custom_handler_invalid", f"it must return a mapping, got {type(answer).__name__}"
            )
        metrics: dict[str, MetricResult] = {}
        notes: list[Note] = []
        for metric, value in answer.items():
            if metric not in MODULE_METRICS:
                message = f"{method} names an unknown metric {metric!r}; accepted: {', '.join(MODULE_METRICS)}"
                notes.append(Note("custom_metric_invalid", str(metric), message))
                continue
            metrics[metric], code, reason = accept(metric, value, method)
            if code is not None:
                notes.append(Note(code, metric, f"{method}: {reason}"))
        return self._with_fallback(
            handler, call, Estimate(metrics, handler.subtree_metrics, True, tuple(notes)), method
        )

    def _with_fallback(self, handler: ModuleHandler, call: ModuleCall, stated: Estimate, method: str) -> Estimate:
        """Fill what the caller's handler left out: owned metrics are unavailable, others are the built-in formula's."""
        metrics, notes, subtree = dict(stated.metrics), list(stated.notes), stated.subtree
        for metric in sorted(handler.subtree_metrics.difference(metrics)):
            metrics[metric] = no_estimate(metric, method)
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


def _dependency_notes(dependencies: dict[str, Any]) -> tuple[Note, ...]:
    """Move the reason why dependencies are unavailable out of the row: it is a diagnostic's."""
    reason = dependencies.pop("reason", None)
    return () if reason is None else (Note("unsupported_token_dependency", "token_dependencies", reason),)
