"""The wire format of a model analysis (schema version 1). Types only: importing this never imports torch."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from torchscan.report.diagnostic import Diagnostic
from torchscan.report.flops import FlopReport
from torchscan.report.metric import MetricResult

MODULE_METRICS = ("module_flops", "macs", "dmas", "receptive_field", "effective_stride", "effective_padding")
"""What a module formula or a caller's handler can estimate, in report order."""

LAYER_METRICS = (*MODULE_METRICS, "operator_flops")
"""What each module call reports in full mode."""

STORAGE_TOTALS = (
    "parameters",
    "trainable_parameters",
    "frozen_parameters",
    "parameter_bytes",
    "buffer_elements",
    "buffer_bytes",
)
COMPUTE_TOTALS = ("module_flops", "macs", "dmas", "operator_flops", "operator_macs")
TOTALS = (*STORAGE_TOTALS, *COMPUTE_TOTALS)

UNITS = {
    "parameters": "parameters",
    "trainable_parameters": "parameters",
    "frozen_parameters": "parameters",
    "parameter_bytes": "bytes",
    "buffer_elements": "elements",
    "buffer_bytes": "bytes",
    "module_flops": "FLOPs",
    "macs": "MACs",
    "dmas": "DMAs",
    "receptive_field": "elements",
    "effective_stride": "elements",
    "effective_padding": "elements",
    "operator_flops": "FLOPs",
    "operator_macs": "MACs",
}

METHODS = {
    "module_flops": "torchscan_flops_v1",
    "macs": "torchscan_macs_v1",
    "dmas": "torchscan_dmas_v1",
    "receptive_field": "torchscan_receptive_field_v1",
    "effective_stride": "torchscan_receptive_field_v1",
    "effective_padding": "torchscan_receptive_field_v1",
    "operator_flops": "torchscan_operators_v1",
    "operator_macs": "torchscan_operator_macs_v1",
    **dict.fromkeys(STORAGE_TOTALS, "unique_storage"),
}
NATIVE_METHOD = "torch.utils.flop_counter.FlopCounterMode"
NOT_REQUESTED = "not_requested"
NOT_APPLICABLE = "not_applicable"


class Context(TypedDict):
    """What ran: versions, model type, modes, and the devices and dtypes of its storages."""

    torchscan_version: str
    torch_version: str
    python_version: str
    model_type: str
    execution_mode: str
    analysis_mode: Literal["full", "structure"]
    training_before: bool
    devices: list[str]
    dtypes: list[str]


class Inputs(TypedDict):
    """Recursive metadata of the call's arguments. Never values, paths or reprs."""

    source: Literal["generated", "caller"]
    args: list[Any]
    kwargs: dict[str, Any]


class MetricOwner(TypedDict):
    """The call whose subtree estimate covers a row's metric."""

    path: str
    call_index: int


class LayerReport(TypedDict):
    """Information collected for one module invocation."""

    path: str
    call_index: int
    name: str
    depth: int
    type: str
    input: dict[str, Any]
    output: dict[str, Any]
    parameters: dict[str, MetricResult]
    buffers: dict[str, MetricResult]
    metrics: dict[str, MetricResult]
    metric_owners: NotRequired[dict[str, MetricOwner]]
    metric_ownership: NotRequired[dict[str, Literal["module_call", "subtree"]]]
    token_dependencies: NotRequired[dict[str, Any]]


class AnalysisReport(TypedDict):
    """Versioned, JSON-serializable result of a module analysis."""

    schema_version: int
    context: Context
    inputs: Inputs
    layers: list[LayerReport]
    totals: dict[str, MetricResult]
    operator_flops: FlopReport
    diagnostics: list[Diagnostic]
