"""What a formula receives and returns. The same three types serve the built-in table and a caller's own handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

from torch import nn

from torchscan.report.analysis import MODULE_METRICS
from torchscan.report.diagnostic import DiagnosticCode
from torchscan.report.metric import MetricResult

Estimate = int | float | MetricResult | None


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """Actual forward-call objects supplied to an estimation callback.

    The objects are borrowed, not copied: treat them as read-only. Keeping a tensor extends its lifetime.

    Attributes:
        module: the module whose forward call just completed.
        args: complete positional arguments, including containers and non-tensors.
        kwargs: complete actual keyword arguments; omitted defaults are not inserted.
        output: complete output, including containers and non-tensors.
    """

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    output: Any


class ModuleEstimates(TypedDict, total=False):
    """Independent module estimates returned by a callback.

    A number is a complete estimate; None is explicitly unavailable; a MetricResult is taken as given (its unit must
    match). An omitted field falls back to the built-in leaf formula or, for a composite, to its children's estimates.
    """

    module_flops: Estimate
    macs: Estimate
    dmas: Estimate
    receptive_field: Estimate
    effective_stride: Estimate
    effective_padding: Estimate


@dataclass(frozen=True, slots=True)
class ModuleHandler:
    """Scoped callback and explicit ownership of inclusive subtree estimates.

    Attributes:
        estimate: callback from a complete ModuleCall to independent ModuleEstimates. Its exceptions become diagnostics.
        subtree_metrics: names of the metrics for which this module owns all work of its executed subtree. Children keep
            their structural records, but their owned fields are omitted, also when the callback fails.

    Raises:
        TypeError: ``estimate`` cannot be called.
        ValueError: ``subtree_metrics`` names something that is not a module metric.
    """

    estimate: Callable[[ModuleCall], ModuleEstimates]
    subtree_metrics: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not callable(self.estimate):
            raise TypeError(f"estimate must be callable, got {type(self.estimate).__name__}")
        names: object = self.subtree_metrics
        if isinstance(names, str):
            raise TypeError(f"subtree_metrics must be a set of names, got the single string {names!r}")
        object.__setattr__(self, "subtree_metrics", frozenset(self.subtree_metrics))
        unknown = sorted(map(str, self.subtree_metrics.difference(MODULE_METRICS)))
        if unknown:
            raise ValueError(f"subtree_metrics accepts {', '.join(MODULE_METRICS)}; got {', '.join(unknown)}")


class UnsupportedCall(Exception):  # noqa: N818 # a signal between a formula and the crawl, never shown as an error
    """Raised by a built-in formula for a call outside its documented boundary; becomes a diagnostic, never a guess.

    Attributes:
        metrics: the metrics that have no estimate for this call; all of them when empty.
        code: the code of that diagnostic.
    """

    code: ClassVar[DiagnosticCode] = "unsupported_module_metric"

    def __init__(self, reason: str, *metrics: str) -> None:
        super().__init__(reason)
        self.metrics = metrics


class MissingTensor(UnsupportedCall):
    """A tensor that the formula needs is not in the call: nothing, or something else, stands in its place."""

    code = "missing_metric_tensor"


class ChangedBoundary(UnsupportedCall):
    """A native module that owns its subtree no longer holds what its formula describes: its children count instead."""

    code = "expanded_atomic_boundary"
