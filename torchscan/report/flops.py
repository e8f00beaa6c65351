"""The wire format of an operator count (schema version 1)."""

from __future__ import annotations

from typing import TypedDict

from torchscan.report.diagnostic import Diagnostic
from torchscan.report.metric import MetricResult


class FlopContext(TypedDict):
    """Versions and conventions behind an operator count."""

    torch_version: str
    method: str
    counting_convention: str


class IgnoredOperator(TypedDict):
    """An executed operator that does no arithmetic, with the reason."""

    operator: str
    calls: int
    reason: str


class FlopReport(TypedDict):
    """JSON-serializable operator FLOP report."""

    schema_version: int
    context: FlopContext
    total: MetricResult
    by_module: dict[str, dict[str, int | float]]
    by_operator: dict[str, int | float]
    ignored_operators: list[IgnoredOperator]
    diagnostics: list[Diagnostic]
