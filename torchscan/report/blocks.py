"""Timing blocks, their order statistics, and the totals that follow from them. Pure: a saved report can be checked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torchscan.report.analysis import NOT_REQUESTED
from torchscan.report.benchmark import Measurement
from torchscan.report.metric import MetricResult, complete, unavailable

TIMER_METHOD = "torch.utils.benchmark.Timer"
FIRST_CALL_METHOD = "time.perf_counter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds of the first call and of each block; a block holds ``number_per_run`` calls."""

    first_call_seconds: float
    number_per_run: int
    raw_times_seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BlockStatistics:
    """Median and interquartile range of the blocks' average seconds per call."""

    median_seconds: float
    iqr_seconds: float


def quantile(values: Sequence[float], fraction: float) -> float:
    """Give the quantile by linear interpolation between order statistics (numpy's default)."""
    if not values:
        raise ValueError("a quantile needs at least one value")
    ordered = sorted(values)
    position = fraction * (len(ordered) - 1)
    index = int(position)
    above = min(index + 1, len(ordered) - 1)
    return ordered[index] + (position - index) * (ordered[above] - ordered[index])


def summarize_blocks(raw_times_seconds: Sequence[float], number_per_run: int) -> BlockStatistics:
    """Give median and IQR of seconds per call, from whole-block seconds."""
    per_call = [seconds / number_per_run for seconds in raw_times_seconds]
    return BlockStatistics(
        median_seconds=quantile(per_call, 0.5),
        iqr_seconds=quantile(per_call, 0.75) - quantile(per_call, 0.25),
    )


def timing_totals(
    timings: Timings | None,
    work_units: float,
    work_unit: str,
    metrics: Collection[str],
    *,
    method: str = TIMER_METHOD,
) -> dict[str, MetricResult]:
    """Give first call, median, IQR and throughput. What is outside ``metrics`` was not requested."""
    rate = f"{work_unit}/s"
    scopes = {
        "first_call_latency": ("seconds", "first_call"),
        "latency": ("seconds", "warmed_block_average"),
        "latency_iqr": ("seconds", "warmed_block_average"),
        "throughput": (rate, "warmed_blocks"),
    }
    totals = {name: unavailable(unit=unit, scope=scope, method=NOT_REQUESTED) for name, (unit, scope) in scopes.items()}
    if timings is None:
        return totals
    blocks = summarize_blocks(timings.raw_times_seconds, timings.number_per_run)
    measured = {}
    if "latency" in metrics:
        measured["first_call_latency"] = (timings.first_call_seconds, FIRST_CALL_METHOD)
        measured["latency"] = (blocks.median_seconds, method)
        measured["latency_iqr"] = (blocks.iqr_seconds, method)
    if "throughput" in metrics:
        measured["throughput"] = (work_units / blocks.median_seconds, method)
    for name, (value, how) in measured.items():
        unit, scope = scopes[name]
        totals[name] = complete(value, unit=unit, scope=scope, method=how)
    return totals


def measurement(timings: Timings | None) -> Measurement:
    """Give the raw evidence; zeros and no blocks where nothing was timed."""
    if timings is None:
        return {"number_per_run": 0, "raw_times_seconds": [], "measured_calls": 0}
    return {
        "number_per_run": timings.number_per_run,
        "raw_times_seconds": list(timings.raw_times_seconds),
        "measured_calls": timings.number_per_run * len(timings.raw_times_seconds),
    }
