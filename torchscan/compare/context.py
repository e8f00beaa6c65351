"""Which facts around the numbers must agree before two runs may be compared: the one list of each kind of report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchscan.report.analysis import AnalysisReport
from torchscan.report.benchmark import BenchmarkReport

EXECUTION_FACTS = (
    "inputs",
    "execution_mode",
    "analysis_mode",
    "devices",
    "dtypes",
    "torch_version",
    "torchscan_version",
    "python_version",
)
"""What the cost of an execution depends on besides the model. Storage does not depend on it."""

BENCHMARK_FACTS = (
    "torchscan_version",
    "torch_version",
    "python_version",
    "platform",
    "machine",
    "processor",
    "device",
    "device_name",
    "cuda_version",
    "work_units",
    "work_unit",
    "inputs",
)
"""Hardware, versions, inputs and the meaning of one call: where these differ, a change of the numbers says nothing."""


def fact(report: AnalysisReport | BenchmarkReport, name: str) -> Any:
    """Return one fact of a report, or None where the report does not record it."""
    if name == "inputs":
        return report.get("inputs")
    context: Mapping[str, Any] = report["context"]
    return context.get(name)


def execution_differences(before: AnalysisReport, after: AnalysisReport) -> tuple[str, ...]:
    """Return the names of the facts that keep two analyses' execution costs from being compared.

    A fact that a report does not record is not known to agree, so it counts as different.
    """
    return tuple(
        name
        for name in EXECUTION_FACTS
        if fact(before, name) is None or fact(after, name) is None or fact(before, name) != fact(after, name)
    )


def benchmark_differences(before: BenchmarkReport, after: BenchmarkReport) -> tuple[str, ...]:
    """Return the names of the facts that keep two benchmarks from being compared.

    None is a recorded value here: ``cuda_version`` is None on a machine without CUDA.
    """
    return tuple(name for name in BENCHMARK_FACTS if fact(before, name) != fact(after, name))
