"""A BenchmarkReport as the lines that people read. Programs read the report."""

from __future__ import annotations

from collections.abc import Callable

from torchscan.report.analysis import NOT_REQUESTED
from torchscan.report.benchmark import BenchmarkReport
from torchscan.report.metric import MetricResult, Number

_SCOPES = {
    "pytorch_tensor_bytes": "PyTorch tracked CPU tensors",
    "cuda_allocated_bytes": "PyTorch CUDA caching allocator",
    "mps_tensor_bytes": "PyTorch tracked MPS tensors",
    "child_process_lifetime": "child process lifetime",
}


def workload_lines(report: BenchmarkReport) -> list[str]:
    """Give the printed summary, line by line."""
    context, totals = report["context"], report["totals"]
    return [
        f"Workload on {context['device']} ({context['num_threads']} PyTorch threads)",
        f"  First call: {_text(totals['first_call_latency'], _milliseconds)}",
        f"  Latency (block median): {_text(totals['latency'], _milliseconds)}",
        f"  Latency IQR: {_text(totals['latency_iqr'], _milliseconds)}",
        f"  Throughput: {_text(totals['throughput'], _counted(totals['throughput']['unit']))}",
        f"  Operator FLOPs: {_text(totals['operator_flops'], _counted('FLOPs'))}",
        f"  PyTorch peak memory: {_text(totals['peak_memory'], _mebibytes)}",
        *_scope(totals["peak_memory"]),
        f"  Process peak RSS: {_text(totals['process_peak_rss'], _mebibytes)}",
        *_scope(totals["process_peak_rss"]),
        f"  Profiler: {context['profile_status'].replace('_', ' ')} (separate instrumented pass)",
    ]


def _text(metric: MetricResult, show: Callable[[Number], str]) -> str:
    if metric["value"] is not None:
        return show(metric["value"])
    if metric["known_value"] is not None:
        return f"at least {show(metric['known_value'])} (partial)"
    return "unavailable (not requested)" if metric["method"] == NOT_REQUESTED else "unavailable"


def _scope(metric: MetricResult) -> list[str]:
    return [f"    Scope: {_SCOPES[metric['scope']]}"] if metric["value"] is not None else []


def _milliseconds(seconds: Number) -> str:
    return f"{seconds * 1e3:,.3f} ms"


def _mebibytes(count: Number) -> str:
    return f"{count / 2**20:,.3f} MiB"


def _counted(unit: str) -> Callable[[Number], str]:
    return lambda count: f"{count:,.3f} {unit}"
