"""Two measured workloads side by side. The owner's check says whether their outputs agree; no one else can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from torchscan.compare.context import benchmark_differences, fact
from torchscan.compare.reports import metric_delta
from torchscan.report.benchmark import BenchmarkComparison, BenchmarkReport
from torchscan.report.diff import MetricDelta
from torchscan.report.schema import SCHEMA_VERSION, check_metrics, check_version

MAY_DIFFER = ("num_threads", "num_interop_threads", "warmup", "min_run_time", "min_repeats", "profile_status")
"""What an owner may change on purpose; named under ``context_changes``."""

LatencyChange = Literal["faster", "slower", "within_variability", "unavailable"]


def compare_benchmarks(
    before: BenchmarkReport, after: BenchmarkReport, *, check: Callable[[], bool | None]
) -> BenchmarkComparison:
    """Compare two benchmark reports; ``check`` is called once, after the reports proved comparable.

    ``check`` passes by returning None or True and fails by returning False or raising AssertionError; a failed check
    keeps both reports and withholds every delta. A change of the median latency up to the larger IQR reads
    ``within_variability``, which describes the blocks and is no test of significance.

    Raises:
        TypeError: ``check`` cannot be called, or returns something else.
        ValueError: a report is malformed, or hardware, versions, work units, input metadata or methods differ.
        Exception: any other exception of ``check``, unchanged.
    """
    if not callable(check):
        raise TypeError(f"check must be a callable without arguments, got {type(check).__name__}")
    _check_report(before, "before")
    _check_report(after, "after")
    _check_comparable(before, after)
    names = dict.fromkeys([*before["totals"], *after["totals"]])
    totals = {name: metric_delta(before["totals"].get(name), after["totals"].get(name), name) for name in names}
    has_passed = _passes(check)
    return {
        "schema_version": SCHEMA_VERSION,
        "report_type": "benchmark_comparison",
        "before": before,
        "after": after,
        "totals": totals if has_passed else {name: _withheld(delta) for name, delta in totals.items()},
        "output_check": "passed" if has_passed else "failed",
        "latency_change": _latency_change(before, after) if has_passed else "unavailable",
        "context_changes": _context_changes(before, after),
    }


def _check_report(report: Any, side: str) -> None:
    check_version(report, side)
    if report.get("report_type") != "benchmark":
        raise ValueError(f"{side}: report_type is {report.get('report_type')!r}, a workload's report says 'benchmark'")
    if not isinstance(report.get("context"), dict) or "inputs" not in report:
        raise ValueError(f"{side}: context or inputs is missing; is the report cut off?")
    check_metrics(report.get("totals"), f"{side}: totals")


def _check_comparable(before: BenchmarkReport, after: BenchmarkReport) -> None:
    for side, report in (("before", before), ("after", after)):
        if report["context"].get("inputs_source") != "caller_supplied":
            raise ValueError(f"{side}: the inputs were not described; measure again with inputs=...")
    differences = [
        "inputs: their metadata differs"
        if name == "inputs"
        else f"{name}: {fact(before, name)!r} and {fact(after, name)!r}"
        for name in benchmark_differences(before, after)
    ]
    if differences:
        raise ValueError(f"cannot compare these benchmarks, before and after differ in {'; '.join(differences)}")


def _passes(check: Callable[[], bool | None]) -> bool:
    try:
        verdict = check()
    except AssertionError:
        return False
    if verdict is None or verdict is True:
        return True
    if verdict is False:
        return False
    raise TypeError(f"check must return None, True or False, got {type(verdict).__name__}: call bool() on it")


def _withheld(delta: MetricDelta) -> MetricDelta:
    return {"status": "unavailable", "delta": None, "before": delta["before"], "after": delta["after"]}


def _latency_change(before: BenchmarkReport, after: BenchmarkReport) -> LatencyChange:
    old, new = _latency(before), _latency(after)
    if old is None or new is None:
        return "unavailable"
    change_seconds = new[0] - old[0]
    if abs(change_seconds) <= max(old[1], new[1]):
        return "within_variability"
    return "slower" if change_seconds > 0 else "faster"


def _latency(report: BenchmarkReport) -> tuple[float, float] | None:
    """Give median and IQR in seconds where both were measured."""
    median, spread = report["totals"].get("latency"), report["totals"].get("latency_iqr")
    if median is None or spread is None or median["value"] is None or spread["value"] is None:
        return None
    return median["value"], spread["value"]


def _context_changes(before: BenchmarkReport, after: BenchmarkReport) -> dict[str, dict[str, Any]]:
    old: dict[str, Any] = {**before["context"]}
    new: dict[str, Any] = {**after["context"]}
    return {key: {"before": old.get(key), "after": new.get(key)} for key in MAY_DIFFER if old.get(key) != new.get(key)}
