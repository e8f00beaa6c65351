"""Names of metrics and states as a reader sees them, and the characters that no report may show raw."""

from __future__ import annotations

import re

from torchscan.render.units import ELLIPSIS
from torchscan.report.analysis import NOT_APPLICABLE, NOT_REQUESTED
from torchscan.report.metric import MetricResult

METRICS = {
    "module_flops": "Module FLOPs",
    "operator_flops": "Operator FLOPs",
    "macs": "MACs",
    "operator_macs": "Operator MACs",
    "dmas": "DMAs",
    "parameters": "Parameters",
    "trainable_parameters": "Trainable parameters",
    "frozen_parameters": "Frozen parameters",
    "parameter_bytes": "Parameter storage",
    "buffer_elements": "Buffer elements",
    "buffer_bytes": "Buffer storage",
    "receptive_field": "Receptive field",
    "effective_stride": "Effective stride",
    "effective_padding": "Effective padding",
    "calls": "Calls",
    "first_call_latency": "First call",
    "latency": "Block median",
    "latency_iqr": "Block IQR",
    "throughput": "Throughput",
    "peak_memory": "Peak memory",
    "process_peak_rss": "Process peak RSS",
}

FIELDS = {
    "torchscan_version": "torchscan",
    "torch_version": "torch",
    "python_version": "Python",
    "model_type": "Model type",
    "execution_mode": "Execution",
    "analysis_mode": "Analysis",
    "training_before": "In training before",
    "devices": "Devices",
    "dtypes": "Dtypes",
    "inputs": "Inputs",
    "platform": "Platform",
    "machine": "Machine",
    "processor": "Processor",
    "device": "Device",
    "device_name": "Device name",
    "num_threads": "Threads",
    "num_interop_threads": "Interop threads",
    "cuda_version": "CUDA",
    "inputs_source": "Inputs",
    "work_units": "Work units per call",
    "work_unit": "Work unit",
    "warmup": "Warm-up calls",
    "min_run_time": "Minimum run time, s",
    "min_repeats": "Minimum repeats",
    "profile_status": "Profiler",
}

# Control, bidirectional, line-separator and lone surrogate characters. Tab and line feed stay: they are white space.
_INVISIBLE = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ud800-\\udfff\\ufeff\\ufffe\\uffff]"
)


def visible(text: str) -> str:
    """Spell out characters that are invisible, reorder text or cannot be encoded: ``\\u{202E}``."""
    if text.isascii() and text.isprintable():  # nearly every name
        return text
    return _INVISIBLE.sub(lambda found: f"\\u{{{ord(found[0]):04X}}}", text)


def shorten(text: str, most: int) -> str:
    """Cut the middle out of a long name."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}{ELLIPSIS}{text[head + 1 - most :]}"


def metric_label(name: str) -> str:
    """Give a metric's name; one we do not know keeps its own."""
    return METRICS.get(name, name.replace("_", " "))


def state_label(result: MetricResult | None) -> str:
    """Give the state of a result in words."""
    if result is None:
        return "absent"
    if result["status"] == "complete":
        return "measured zero" if result["value"] == 0 else "complete"
    if result["status"] == "partial":
        return "nothing counted yet" if result["known_value"] == 0 else "lower bound"
    return {NOT_REQUESTED: "not requested", NOT_APPLICABLE: "not applicable"}.get(result["method"], "unavailable")
