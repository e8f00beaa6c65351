"""Measured passes made into a BenchmarkReport."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch

from torchscan.measure.environment import benchmark_context
from torchscan.measure.settings import TimingSettings
from torchscan.report.analysis import NOT_REQUESTED
from torchscan.report.benchmark import BenchmarkReport, PeakMemory, PeakRss, ProfileReport
from torchscan.report.blocks import Timings, measurement, timing_totals
from torchscan.report.flops import FlopReport
from torchscan.report.metric import MetricResult, complete, unavailable
from torchscan.report.schema import SCHEMA_VERSION

MEMORY_METHODS = {
    "pytorch_tensor_bytes": "torchscan_tensor_storages_v1",
    "cuda_allocated_bytes": "torch.cuda.max_memory_allocated",
    "mps_tensor_bytes": "torchscan_tensor_storages_v1",
}
TENSOR_SCOPES = {"cpu": "pytorch_tensor_bytes", "cuda": "cuda_allocated_bytes", "mps": "mps_tensor_bytes"}
"""What a peak on each device counts: the ``metric`` of a PeakMemory and the scope of the total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """What each pass over the workload gave; None where it was not asked for."""

    timings: Timings | None = None
    flops: FlopReport | None = None
    memory: PeakMemory | None = None
    rss: PeakRss | None = None
    profile: ProfileReport | None = None


def benchmark_report(
    device: torch.device, settings: TimingSettings, inputs: Any | None, passes: Passes, *, metrics: Collection[str]
) -> BenchmarkReport:
    """Join context, totals and raw evidence. ``inputs`` is described already.

    A total outside ``metrics`` reads unavailable, not requested.
    """
    report: BenchmarkReport = {
        "schema_version": SCHEMA_VERSION,
        "report_type": "benchmark",
        "context": benchmark_context(
            device, settings, has_inputs=inputs is not None, is_profiled=passes.profile is not None
        ),
        "inputs": inputs,
        "totals": {
            **timing_totals(passes.timings, settings.work_units, settings.work_unit, metrics),
            "operator_flops": passes.flops["total"] if passes.flops else _not_requested("FLOPs", "workload"),
            "peak_memory": _peak_memory(passes.memory, device),
            "process_peak_rss": _peak_rss(passes.rss),
        },
        "measurement": measurement(passes.timings),
        "diagnostics": list(passes.flops["diagnostics"]) if passes.flops else [],
    }
    if passes.flops is not None:
        report["operator_flops"] = passes.flops
    if passes.memory is not None:
        report["memory"] = passes.memory
    if passes.profile is not None:
        report["profile"] = passes.profile
    return report


def _peak_memory(memory: PeakMemory | None, device: torch.device) -> MetricResult:
    if memory is None:
        return _not_requested("bytes", TENSOR_SCOPES[device.type])
    metric = memory["metric"]
    return complete(memory["peak_bytes"], unit="bytes", scope=metric, method=MEMORY_METHODS[metric])


def _peak_rss(rss: PeakRss | None) -> MetricResult:
    if rss is None:
        return _not_requested("bytes", "child_process_lifetime")
    return complete(rss["peak_bytes"], unit="bytes", scope=rss["scope"], method=rss["method"])


def _not_requested(unit: str, scope: str) -> MetricResult:
    return unavailable(unit=unit, scope=scope, method=NOT_REQUESTED)
