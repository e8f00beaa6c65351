"""The facts that a measurement depends on, read once beside it."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

import torch

import torchscan
from torchscan.measure.settings import TimingSettings
from torchscan.report.benchmark import BenchmarkContext, ProfileContext


def benchmark_context(
    device: torch.device, settings: TimingSettings, *, has_inputs: bool, is_profiled: bool
) -> BenchmarkContext:
    """Give the context of a BenchmarkReport."""
    return {
        **profile_context(device),
        "inputs_source": "caller_supplied" if has_inputs else "not_provided",
        "work_units": settings.work_units,
        "work_unit": settings.work_unit,
        "warmup": settings.warmup,
        "min_run_time": settings.min_run_time,
        "min_repeats": settings.min_repeats,
        "profile_status": "collected" if is_profiled else "not_requested",
    }


def profile_context(device: torch.device) -> ProfileContext:
    """Give versions, hardware and threads."""
    return {
        "torchscan_version": torchscan.__version__,
        "torch_version": str(torch.__version__),
        "python_version": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "processor": _processor_name(),
        "device": str(device),
        "device_name": _device_name(device),
        "num_threads": torch.get_num_threads(),
        "num_interop_threads": torch.get_num_interop_threads(),
        "cuda_version": torch.version.cuda,
    }


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else _processor_name()


@cache
def _processor_name() -> str:
    # platform.processor() is empty or the bare architecture on Linux; two machines of one architecture would look equal
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
