"""Time a workload: its first call alone, then warmed blocks of calls."""

from __future__ import annotations

import timeit
import warnings
from collections.abc import Callable
from typing import Any

import torch

from torchscan.measure.assemble import Passes, benchmark_report
from torchscan.measure.device import resolve_device, synchronize
from torchscan.measure.isolation import restored_process_state
from torchscan.measure.settings import TimingSettings, check_workload
from torchscan.metadata.describe import describe
from torchscan.report.benchmark import BenchmarkReport
from torchscan.report.blocks import Timings


def measure_latency(
    workload: Callable[[], Any],
    *,
    device: str | torch.device,
    inputs: Any = None,
    work_units: float = 1,
    work_unit: str = "calls",
    warmup: int = 5,
    min_run_time: float = 0.2,
    min_repeats: int = 5,
) -> BenchmarkReport:
    """Time a zero-argument workload; give first-call seconds, block median and IQR in seconds, and throughput.

    The workload is called repeatedly, with the threads that the process has now, and owns its state. ``inputs`` is
    described in the report, never passed on. Block averages are not request p95, and the first call is not start-up.

    Raises:
        TypeError, ValueError: an argument is not what it says; raised before the workload runs.
        Exception: whatever the workload raises, unchanged.
    """
    check_workload(workload)
    target = resolve_device(device)
    settings = TimingSettings(
        work_units=work_units, work_unit=work_unit, warmup=warmup, min_run_time=min_run_time, min_repeats=min_repeats
    )
    described = None if inputs is None else describe(inputs)
    with restored_process_state(target):
        passes = Passes(timings=time_workload(workload, target, settings))
        # In here, because the context names the threads that the blocks ran with, also where the workload set them.
        return benchmark_report(target, settings, described, passes, metrics=("latency", "throughput"))


def time_workload(workload: Callable[[], Any], device: torch.device, settings: TimingSettings) -> Timings:
    """Run the first call, the warm-up and the blocks, in that order. Warns where the blocks differ in their threads."""
    # Imported here: its 0.1 s would otherwise be paid by who only counts or profiles.
    from torch.utils.benchmark import Timer

    threads: set[int] = set()

    def clock() -> float:
        threads.add(torch.get_num_threads())
        synchronize(device)
        return timeit.default_timer()

    started = clock()
    workload()
    first_call_seconds = clock() - started
    for _ in range(settings.warmup):
        workload()
    threads.clear()
    names = {"workload": workload}
    # Timer's own default is one thread (pytorch#106801), which is not what the caller runs.
    timer = Timer("workload()", timer=clock, globals=names, num_threads=torch.get_num_threads())
    blocks = timer.blocked_autorange(min_run_time=settings.min_run_time)
    raw_times = list(blocks.raw_times)
    # A slow workload fills min_run_time with one block, which has no spread (Timer.timeit keeps one as well).
    repeat = timeit.Timer("workload()", timer=clock, globals=names)
    while len(raw_times) < settings.min_repeats:
        raw_times.append(max(repeat.timeit(blocks.number_per_run), 1e-9))  # the floor that Timer uses
    if len(threads) > 1:
        seen = ", ".join(map(str, sorted(threads)))
        warnings.warn(
            f"the workload changes torch's threads between its calls (seen: {seen}), so its blocks do not measure one "
            "thing: set them once, before it is measured",
            RuntimeWarning,
            stacklevel=3,
        )
    return Timings(
        first_call_seconds=first_call_seconds,
        number_per_run=blocks.number_per_run,
        raw_times_seconds=tuple(raw_times),
    )
