"""A built and warmed workload, and what it does on command: a timed block, a tensor peak, its outputs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import torch

from ci_action.core.spec import Stage, WorkerSpec
from ci_action.core.timing.instructions import COUNTED_CALLS
from ci_action.core.timing.lockstep import BLOCK_SECONDS, FEWEST_BLOCKS, SIDE_SECONDS, Answer, Command, Ready
from ci_action.worker.callgrind import attach
from ci_action.worker.load import load_factory
from ci_action.worker.outputs import write_outputs
from ci_action.worker.seeding import seed_everything
from ci_action.worker.target import BuiltTarget, build, with_arguments
from ci_action.worker.threads import ThreadWatch
from torchscan.measure.device import resolve_device, synchronize
from torchscan.measure.environment import benchmark_context
from torchscan.measure.memory import measure_peak_memory
from torchscan.measure.settings import TimingSettings
from torchscan.metadata.describe import Describer

WARMUP_CALLS = 5
WARMUP_SECONDS = 2.0
"""A slow workload is warm after fewer calls: its caches were filled by the first."""
SERIAL_SECONDS, SERIAL_SHARE = 1e-4, 0.02
"""Processor time of other threads, and its share of the first call, that is no work: reading the clocks takes some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A built and warmed workload, and the commands that it understands."""

    workload: Callable[[], Any]
    synchronize: Callable[[], None]
    device: str
    seed: int
    threads: ThreadWatch
    ready: Ready

    def answer(self, command: Command) -> Answer:
        """Carry out one command. Errors of the workload propagate."""
        self.threads.check()  # since the last one the orchestrator may have given it other cores
        match command["do"]:
            case "calibrate":
                return {"call_seconds": self._call_seconds()}
            case "block":
                return {"seconds": self._timed(command["calls"])}
            case "peak":
                return {"peak": self._peak()}
            case "outputs":
                self._write_outputs(Path(command["folder"]))
                return {"outputs": None}
            case "rss":
                return {"rss_bytes": _peak_rss_bytes()}
            case "instructions":
                return {"instructions": self._instructions(Path(command["folder"]))}

    def _timed(self, calls: int) -> float:
        """Time some calls after an unmeasured one: the other side's block has emptied the caches."""
        had_collector = gc.isenabled()
        gc.disable()
        try:
            self.workload()
            self.synchronize()
            started = perf_counter()
            for _ in repeat(None, calls):
                self.workload()
            self.synchronize()
            seconds = perf_counter() - started
        finally:
            if had_collector:
                gc.enable()
        self.threads.check()
        return max(seconds, 1e-9)

    def _call_seconds(self) -> float:
        """Time one call by enough of them; the fastest of a few tries, because a disturbed one would mislead."""
        calls = 1
        while (taken := self._timed(calls)) < BLOCK_SECONDS / 2 and calls < 1 << 24:
            calls *= 2 if taken > BLOCK_SECONDS / 16 else 8
        return min(taken, *(self._timed(calls) for _ in range(3))) / calls

    def _peak(self) -> dict[str, Any]:
        return {**measure_peak_memory(self.workload, device=self.device)}

    def _instructions(self, folder: Path) -> list[int]:
        counts = attach(folder).count(self.workload, COUNTED_CALLS)
        self.threads.check()
        return counts

    def _write_outputs(self, folder: Path) -> None:
        seed_everything(self.seed)
        write_outputs(self.workload(), folder)


def prepare(spec: WorkerSpec, enter: Callable[[Stage], None]) -> Session:
    """Load, build and warm up the spec's only target. ``enter`` hears which stage an error would belong to."""

    (target,) = spec["targets"]
    if spec["threads"] is not None:
        torch.set_num_threads(spec["threads"])
    enter("load")
    factory = load_factory(target["factory"], Path(spec["root"]))
    enter("build")
    seed_everything(spec["seed"])
    built = build(factory, target["device"])
    device = resolve_device(target["device"])
    settings = TimingSettings(
        work_units=1 if built.work_units is None else built.work_units,
        work_unit="calls" if built.work_unit is None else built.work_unit,
        warmup=WARMUP_CALLS,
        min_run_time=SIDE_SECONDS,
        min_repeats=FEWEST_BLOCKS,
    )
    workload = _forward(built) if built.workload is None else built.workload
    enter("benchmark")
    elsewhere_seconds = process_time() - thread_time()
    first_call_seconds = _warm(workload, lambda: synchronize(device))
    elsewhere_seconds = process_time() - thread_time() - elsewhere_seconds
    return Session(
        workload=workload,
        synchronize=lambda: synchronize(device),
        device=str(device),
        seed=spec["seed"],
        threads=ThreadWatch(),
        ready={
            "context": benchmark_context(device, settings, has_inputs=True, is_profiled=False),
            "inputs": Describer().call(built.args or (), built.kwargs or {}),
            "first_call_seconds": first_call_seconds,
            "is_serial": device.type == "cpu"
            and elsewhere_seconds < SERIAL_SECONDS + SERIAL_SHARE * first_call_seconds,
        },
    )


def _forward(built: BuiltTarget) -> Callable[[], Any]:
    """An evaluation forward without gradients: what the analysis counted is what the clock sees."""

    complete = with_arguments(built)
    model, args, kwargs = complete.model, complete.args or (), complete.kwargs or {}
    assert model is not None  # noqa: S101 # with_arguments has refused a target without a model
    model.eval()

    def forward() -> Any:
        with torch.no_grad():
            return model(*args, **kwargs)

    return forward


def _warm(workload: Callable[[], Any], wait: Callable[[], None]) -> float:
    started = perf_counter()
    workload()
    wait()
    first_call_seconds = perf_counter() - started
    for _ in range(WARMUP_CALLS):
        if perf_counter() - started > WARMUP_SECONDS:
            break
        workload()
    wait()
    return max(first_call_seconds, 1e-9)


def _peak_rss_bytes() -> int:
    """The kernel's high-water mark of this process, in bytes: Linux counts KiB, macOS bytes.

    It starts at the orchestrator's own, which a process with torch in it has left far behind.
    """
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
