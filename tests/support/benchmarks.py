"""Benchmark reports built by hand, and the shipped schemas as validators."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

from torchscan.report.benchmark import BenchmarkReport
from torchscan.report.metric import MetricResult, complete, unavailable

CONTEXT: dict[str, Any] = {
    "torchscan_version": "0.3.0",
    "torch_version": "2.13.0",
    "python_version": "3.11.9",
    "platform": "Linux-6.1-x86_64",
    "machine": "x86_64",
    "processor": "A CPU",
    "device": "cpu",
    "device_name": "A CPU",
    "num_threads": 2,
    "num_interop_threads": 2,
    "cuda_version": None,
    "inputs_source": "caller_supplied",
    "work_units": 32,
    "work_unit": "samples",
    "warmup": 5,
    "min_run_time": 0.2,
    "min_repeats": 5,
    "profile_status": "not_requested",
}
TENSOR = {"kind": "tensor", "shape": [32, 8], "dtype": "torch.float32", "device": "cpu", "requires_grad": False}


def seconds(value: float | None, scope: str = "warmed_block_average") -> MetricResult:
    if value is None:
        return unavailable(unit="seconds", scope=scope, method="not_requested")
    return complete(value, unit="seconds", scope=scope, method="torch.utils.benchmark.Timer")


def make_benchmark(
    latency: float | None = 0.010,
    iqr: float | None = 0.001,
    *,
    context: Mapping[str, Any] | None = None,
    totals: Mapping[str, MetricResult] | None = None,
    inputs: Any = TENSOR,
) -> BenchmarkReport:
    nothing = {
        "throughput": unavailable(unit="samples/s", scope="warmed_blocks", method="not_requested"),
        "operator_flops": unavailable(unit="FLOPs", scope="workload", method="not_requested"),
        "peak_memory": unavailable(unit="bytes", scope="pytorch_tensor_bytes", method="not_requested"),
        "process_peak_rss": unavailable(unit="bytes", scope="child_process_lifetime", method="not_requested"),
    }
    return {
        "schema_version": 1,
        "report_type": "benchmark",
        "context": {**CONTEXT, **(context or {})},  # type: ignore[typeddict-item]
        "inputs": inputs,
        "totals": {
            "first_call_latency": seconds(0.02, "first_call"),
            "latency": seconds(latency),
            "latency_iqr": seconds(iqr),
            **nothing,
            **(totals or {}),
        },
        "measurement": {"number_per_run": 1, "raw_times_seconds": [0.01, 0.01], "measured_calls": 2},
        "diagnostics": [],
    }


def schema_faults(name: str, document: object) -> list[str]:
    """What the shipped schema says against a document, after the round trip through JSON that every report survives."""
    schema = json.loads(files("torchscan").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    plain = json.loads(json.dumps(document, allow_nan=False))
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(plain)]
