"""TorchScan: what a PyTorch model costs, with a status on every number.

Importing this package imports nothing else. Each public name loads on first use (PEP 562), so reports can be compared
and rendered in a process that has no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchscan.compare.benchmarks import compare_benchmarks
    from torchscan.compare.reports import compare_reports
    from torchscan.crawl.crawl import crawl_module
    from torchscan.crawl.summary import summary
    from torchscan.errors import IncompleteAnalysisError
    from torchscan.formulas.handler import ModuleCall, ModuleEstimates, ModuleHandler
    from torchscan.measure.flops import measure_flops
    from torchscan.measure.latency import measure_latency
    from torchscan.measure.profiler import profile_workload
    from torchscan.measure.workload import measure_workload
    from torchscan.render.document import render_report
    from torchscan.report.analysis import AnalysisReport, LayerReport
    from torchscan.report.benchmark import BenchmarkComparison, BenchmarkReport, ProfileReport
    from torchscan.report.diagnostic import Diagnostic
    from torchscan.report.diff import ReportDiff
    from torchscan.report.flops import FlopReport
    from torchscan.report.metric import MetricResult

__version__ = "0.3.0"

__all__ = [
    "AnalysisReport",
    "BenchmarkComparison",
    "BenchmarkReport",
    "Diagnostic",
    "FlopReport",
    "IncompleteAnalysisError",
    "LayerReport",
    "MetricResult",
    "ModuleCall",
    "ModuleEstimates",
    "ModuleHandler",
    "ProfileReport",
    "ReportDiff",
    "compare_benchmarks",
    "compare_reports",
    "crawl_module",
    "measure_flops",
    "measure_latency",
    "measure_workload",
    "profile_workload",
    "render_report",
    "summary",
]

_HOME = {
    "AnalysisReport": "torchscan.report.analysis",
    "BenchmarkComparison": "torchscan.report.benchmark",
    "BenchmarkReport": "torchscan.report.benchmark",
    "Diagnostic": "torchscan.report.diagnostic",
    "FlopReport": "torchscan.report.flops",
    "IncompleteAnalysisError": "torchscan.errors",
    "LayerReport": "torchscan.report.analysis",
    "MetricResult": "torchscan.report.metric",
    "ModuleCall": "torchscan.formulas.handler",
    "ModuleEstimates": "torchscan.formulas.handler",
    "ModuleHandler": "torchscan.formulas.handler",
    "ProfileReport": "torchscan.report.benchmark",
    "ReportDiff": "torchscan.report.diff",
    "compare_benchmarks": "torchscan.compare.benchmarks",
    "compare_reports": "torchscan.compare.reports",
    "crawl_module": "torchscan.crawl.crawl",
    "measure_flops": "torchscan.measure.flops",
    "measure_latency": "torchscan.measure.latency",
    "measure_workload": "torchscan.measure.workload",
    "profile_workload": "torchscan.measure.profiler",
    "render_report": "torchscan.render.document",
    "summary": "torchscan.crawl.summary",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from torchscan.heap import settled_heap

    with settled_heap():  # else the first use may pay for a full pass over all that torch has loaded: 0.1 s
        value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
