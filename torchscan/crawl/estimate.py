"""What handlers said about one call, and what the report will say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from torchscan.report.analysis import METHODS, UNITS
from torchscan.report.diagnostic import DiagnosticCode
from torchscan.report.metric import MetricResult, unavailable

SCOPE = "module_call"
ALL_METRICS = "module_metrics"
"""What a diagnostic is about when a handler says nothing at all."""


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
    token_dependencies: dict[str, Any] | None = None


def no_estimate(metric: str, method: str | None = None) -> MetricResult:
    """Say that a call has no number for a metric."""
    return unavailable(unit=UNITS[metric], scope=SCOPE, method=method or METHODS[metric])
