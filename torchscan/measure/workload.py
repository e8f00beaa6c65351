"""Measure one workload in one call: clock, operators, memory and, where asked for, RSS and profile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

from torchscan.measure.assemble import Passes, benchmark_report
from torchscan.measure.device import resolve_device
from torchscan.measure.flops import measure_flops
from torchscan.measure.isolation import restored_process_state
from torchscan.measure.latency import time_workload
from torchscan.measure.memory import measure_peak_memory
from torchscan.measure.profiler import profile_workload
from torchscan.measure.rss import check_rss_platform, measure_peak_rss
from torchscan.measure.settings import (
    METRICS,
    TimingSettings,
    check_command,
    check_flag,
    check_formulas,
    check_metrics,
    check_workload,
)
from torchscan.measure.terminal import workload_lines
from torchscan.metadata.describe import describe
from torchscan.report.benchmark import BenchmarkReport


def measure_workload(
    workload: Callable[[], Any],
    *,
    device: str | torch.device,
    inputs: Any = None,
    metrics: Sequence[str] = METRICS,
    work_units: float = 1,
    work_unit: str = "samples",
    warmup: int = 5,
    min_run_time: float = 0.2,
    min_repeats: int = 5,
    profile: bool = False,
    rss_command: Sequence[str] | None = None,
    print_summary: bool = True,
    formulas: Literal["native", "extended"] = "extended",
) -> BenchmarkReport:
    """Measure a zero-argument workload; seconds, FLOPs, bytes, and ``work_units`` per second, each with its status.

    Timing comes first and repeats the workload; each other pass calls it once more, on the state that timing left.
    ``rss_command`` is run as a fresh child, ``inputs`` is described and never passed on. What is not asked for reads
    unavailable with method ``not_requested``.

    Raises:
        TypeError, ValueError: an argument is not what it says; raised before the workload runs.
        NotImplementedError: ``rss_command`` on a platform other than Linux and macOS; likewise before.
        Exception: whatever the workload raises, unchanged.
    """
    check_workload(workload)
    target = resolve_device(device)
    requested = check_metrics(metrics)
    settings = TimingSettings(
        work_units=work_units, work_unit=work_unit, warmup=warmup, min_run_time=min_run_time, min_repeats=min_repeats
    )
    check_formulas(formulas)
    check_flag("profile", profile)
    check_flag("print_summary", print_summary)
    if rss_command is not None:
        check_rss_platform()
        rss_command = check_command("rss_command", rss_command)
    described = None if inputs is None else describe(inputs)
    with restored_process_state(target):
        # Clock first: every other pass leaves allocator and caches in a state that the clock would see.
        is_timed = not {"latency", "throughput"}.isdisjoint(requested)
        passes = Passes(
            timings=time_workload(workload, target, settings) if is_timed else None,
            flops=measure_flops(workload, formulas=formulas) if "flops" in requested else None,
            memory=measure_peak_memory(workload, device=target) if "memory" in requested else None,
            profile=profile_workload(workload, device=target) if profile else None,
            rss=measure_peak_rss(rss_command) if rss_command is not None else None,
        )
        # In here, because the context names the threads that the passes ran with, also where the workload set them.
        report = benchmark_report(target, settings, described, passes, metrics=requested)
    if print_summary:
        sys.stdout.write("\n".join(workload_lines(report)) + "\n")
    return report
