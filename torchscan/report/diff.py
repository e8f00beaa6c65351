"""The wire format of a comparison of two analyses (schema version 1)."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from torchscan.report.metric import MetricResult, Number, Status


class MetricDelta(TypedDict):
    """``after - before`` where both are complete; else ``delta`` is null and ``status`` is the weaker of the two."""

    status: Status
    delta: Number | None
    before: MetricResult | None
    after: MetricResult | None


class LayerIdentity(TypedDict):
    """A module call that stands on one side only."""

    path: str
    call_index: int
    type: str


class LayerChange(TypedDict):
    """A module call on both sides whose type, metrics or dependencies differ."""

    path: str
    call_index: int
    type: dict[str, str]
    metrics: dict[str, MetricDelta]
    token_dependencies: NotRequired[dict[str, Any]]


class LayerDiff(TypedDict):
    """Module calls by what happened to them."""

    added: list[LayerIdentity]
    removed: list[LayerIdentity]
    changed: list[LayerChange]


class ReportDiff(TypedDict):
    """JSON-serializable differences between two compatible analysis reports."""

    schema_version: int
    totals: dict[str, MetricDelta]
    layers: LayerDiff
