"""Peak PyTorch memory of one call. Neither process RSS nor the device's total memory, and never added to either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchscan.measure.assemble import TENSOR_SCOPES
from torchscan.measure.device import resolve_device, synchronize
from torchscan.measure.isolation import restored_process_state
from torchscan.measure.settings import check_workload
from torchscan.measure.storages import StorageLedger
from torchscan.report.benchmark import PeakMemory


def measure_peak_memory(workload: Callable[[], Any], *, device: str | torch.device) -> PeakMemory:
    """Call a workload exactly once and give ``baseline_bytes``, ``peak_bytes`` and ``delta_bytes`` of its device.

    CPU, metric ``pytorch_tensor_bytes``: bytes of the distinct live tensor storages. The baseline holds all that live
    before the call, model and inputs included.
    CUDA, metric ``cuda_allocated_bytes``: the caching allocator's allocated bytes on that device, after resetting its
    peak statistics. ``allocated_peak_bytes`` repeats the peak under the allocator's name; ``reserved_peak_bytes`` is
    what the allocator held from the driver, cache of earlier work included.
    MPS, metric ``mps_tensor_bytes``: as on CPU; ``allocated_peak_bytes`` is the largest
    ``torch.mps.current_allocated_memory`` seen after an operator, because MPS keeps no peak.

    Raises:
        TypeError, ValueError: an argument is not what it says; raised before the workload runs.
        Exception: whatever the workload raises, unchanged.
    """
    check_workload(workload)
    target = resolve_device(device)
    with restored_process_state(target):
        return _BACKENDS[target.type](workload, target)


def _on_cpu(workload: Callable[[], Any], device: torch.device) -> PeakMemory:
    ledger = StorageLedger("cpu")
    return _peak(device, *_ledger_peak(ledger, workload))


def _on_cuda(workload: Callable[[], Any], device: torch.device) -> PeakMemory:
    synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    baseline_bytes = torch.cuda.memory_allocated(device)
    workload()
    synchronize(device)
    allocated_bytes = torch.cuda.max_memory_allocated(device)
    peak = _peak(device, baseline_bytes, allocated_bytes)
    peak["allocated_peak_bytes"] = allocated_bytes
    peak["reserved_peak_bytes"] = torch.cuda.max_memory_reserved(device)
    return peak


def _on_mps(workload: Callable[[], Any], device: torch.device) -> PeakMemory:
    synchronize(device)
    allocated_bytes = torch.mps.current_allocated_memory()

    def watch_allocator() -> None:
        nonlocal allocated_bytes
        allocated_bytes = max(allocated_bytes, torch.mps.current_allocated_memory())

    peak = _peak(device, *_ledger_peak(StorageLedger("mps", watch_allocator), workload))
    peak["allocated_peak_bytes"] = allocated_bytes
    return peak


_BACKENDS = {"cpu": _on_cpu, "cuda": _on_cuda, "mps": _on_mps}


def _ledger_peak(ledger: StorageLedger, workload: Callable[[], Any]) -> tuple[int, int]:
    try:
        ledger.enter_living()
        baseline_bytes = ledger.live_bytes
        with ledger:
            workload()
        return baseline_bytes, ledger.peak_bytes
    finally:
        ledger.close()


def _peak(device: torch.device, baseline_bytes: int, peak_bytes: int) -> PeakMemory:
    return {
        "device": str(device),
        "metric": TENSOR_SCOPES[device.type],
        "baseline_bytes": baseline_bytes,
        "peak_bytes": peak_bytes,
        "delta_bytes": peak_bytes - baseline_bytes,
    }
