"""One instrumented call of a workload, operator by operator: a diagnosis, never a latency."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from torchscan.measure.device import resolve_device, synchronize
from torchscan.measure.environment import profile_context
from torchscan.measure.isolation import restored_process_state
from torchscan.measure.settings import check_count, check_workload
from torchscan.report.benchmark import ProfileReport, ProfileRow
from torchscan.report.schema import SCHEMA_VERSION

_MICROSECONDS = 1e-6
_DEVICE_TIMES = ("self_device_time_total", "self_cuda_time_total")  # the second until torch 2.4


def profile_workload(
    workload: Callable[[], Any],
    *,
    device: str | torch.device,
    trace_path: str | os.PathLike[str] | None = None,
    limit: int = 20,
) -> ProfileReport:
    """Call a workload exactly once under torch.profiler and give its ``limit`` most expensive operators.

    Rows are ranked by device self seconds where the device reports events, else by CPU self seconds; all times include
    the instrumentation. ``trace_path`` also writes a Chrome trace, which holds names of operators and source files.

    Raises:
        TypeError, ValueError: an argument is not what it says; raised before the workload runs.
        FileExistsError, FileNotFoundError: ``trace_path`` is there already, or its folder is not; likewise before.
        RuntimeError: a profiler is already active, which a second one would break.
        Exception: whatever the workload raises, unchanged.
    """
    check_workload(workload)
    target = resolve_device(device)
    check_count("limit", limit, minimum=1)
    trace = _check_trace_path(trace_path)
    # A second session silently ends the first (seen in torch 2.13), so the caller's own would be lost.
    if torch.autograd._profiler_enabled():  # type: ignore[attr-defined] # re-exported from C, and the only way to ask
        raise RuntimeError("profile_workload cannot run inside an active profiler: leave it first")
    with restored_process_state(target):
        profiled = _profile(workload, target)
        context = profile_context(target)
    if trace is not None:
        profiled.export_chrome_trace(str(trace))
    rows = _rows(profiled, has_device_events=target.type == "cuda")
    return {
        "schema_version": SCHEMA_VERSION,
        "context": context,
        "rows": rows[:limit],
        "total_operators": len(rows),
        "trace_path": None if trace is None else str(trace),
    }


def _profile(workload: Callable[[], Any], device: torch.device) -> torch.profiler.profile:
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    profiled = torch.profiler.profile(activities=activities, record_shapes=True, profile_memory=True)
    with profiled:
        workload()
        synchronize(device)
    return profiled


def _rows(profiled: torch.profiler.profile, *, has_device_events: bool) -> list[ProfileRow]:
    rows: list[ProfileRow] = []
    for event in profiled.key_averages(group_by_input_shape=True):
        if event.key.startswith("["):  # bookkeeping of the profiler itself, such as "[memory]"
            continue
        rows.append(
            {
                "operator": event.key,
                "calls": event.count,
                "input_shapes": [list(shape) if isinstance(shape, list) else shape for shape in event.input_shapes],
                "cpu_self_seconds": event.self_cpu_time_total * _MICROSECONDS,
                "device_self_seconds": _device_microseconds(event) * _MICROSECONDS if has_device_events else None,
                "cpu_net_bytes": event.self_cpu_memory_usage,
            }
        )
    return sorted(rows, key=_cost, reverse=True)


def _device_microseconds(event: Any) -> float:
    return next((float(getattr(event, name)) for name in _DEVICE_TIMES if hasattr(event, name)), 0.0)


def _cost(row: ProfileRow) -> tuple[float, float]:
    return row["device_self_seconds"] or 0.0, row["cpu_self_seconds"]


def _check_trace_path(trace_path: Any) -> Path | None:
    if trace_path is None:
        return None
    if not isinstance(trace_path, str | os.PathLike):
        raise TypeError(f"trace_path must be a path or None, got {type(trace_path).__name__}")
    path = Path(trace_path)
    if path.exists() or path.is_symlink():
        raise FileExistsError(errno.EEXIST, "trace_path is there already and is kept: name a new file", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder of trace_path is missing: create it", str(path.parent))
    return path
