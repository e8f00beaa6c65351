"""The wire formats of a measured workload, its profile, and a comparison of two (schema version 1)."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from torchscan.report.diagnostic import Diagnostic
from torchscan.report.diff import MetricDelta
from torchscan.report.flops import FlopReport
from torchscan.report.metric import MetricResult


class ProfileContext(TypedDict):
    """Versions, hardware and threads behind a profile or a timing."""

    torchscan_version: str
    torch_version: str
    python_version: str
    platform: str
    machine: str
    processor: str
    device: str
    device_name: str
    num_threads: int
    num_interop_threads: int
    cuda_version: str | None


class BenchmarkContext(ProfileContext):
    """Everything that a timing depends on and that a comparison must hold equal or name."""

    inputs_source: Literal["caller_supplied", "not_provided"]
    work_units: int | float
    work_unit: str
    warmup: int
    min_run_time: float
    min_repeats: int
    profile_status: str


class PeakMemory(TypedDict):
    """Peak bytes of one call, by the backend's documented rule. ``metric`` names the rule, which is also the scope."""

    device: str
    metric: str
    baseline_bytes: int
    peak_bytes: int
    delta_bytes: int
    allocated_peak_bytes: NotRequired[int]
    reserved_peak_bytes: NotRequired[int]


class PeakRss(TypedDict):
    """Peak resident set of a child process over its whole life, imports and loading included."""

    metric: Literal["process_peak_rss"]
    scope: Literal["child_process_lifetime"]
    method: Literal["wait4_ru_maxrss"]
    peak_bytes: int


class Measurement(TypedDict):
    """The raw evidence: seconds of each block, and how many calls one block holds."""

    number_per_run: int
    raw_times_seconds: list[float]
    measured_calls: int


class ProfileRow(TypedDict):
    """One operator of an instrumented pass. Seconds include the instrumentation."""

    operator: str
    calls: int
    input_shapes: list[Any]
    cpu_self_seconds: float
    device_self_seconds: float | None
    cpu_net_bytes: int


class ProfileReport(TypedDict):
    """One instrumented pass over a workload: a diagnosis, never a latency."""

    schema_version: int
    context: ProfileContext
    rows: list[ProfileRow]
    total_operators: int
    trace_path: NotRequired[str | None]


class BenchmarkReport(TypedDict):
    """JSON-serializable result of measuring one workload."""

    schema_version: int
    report_type: Literal["benchmark"]
    context: BenchmarkContext
    inputs: Any
    totals: dict[str, MetricResult]
    measurement: Measurement
    operator_flops: NotRequired[FlopReport]
    memory: NotRequired[PeakMemory]
    profile: NotRequired[ProfileReport]
    diagnostics: list[Diagnostic]


class BenchmarkComparison(TypedDict):
    """Two measured workloads side by side, with the owner's output check."""

    schema_version: int
    report_type: Literal["benchmark_comparison"]
    before: BenchmarkReport
    after: BenchmarkReport
    totals: dict[str, MetricDelta]
    output_check: Literal["passed", "failed"]
    latency_change: Literal["faster", "slower", "within_variability", "unavailable"]
    context_changes: dict[str, dict[str, Any]]
