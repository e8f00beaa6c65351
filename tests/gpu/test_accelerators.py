"""What only real hardware can show. A mocked accelerator would prove nothing, so without one these are skipped."""

from __future__ import annotations

import time

import pytest
import torch
from torch import nn

from torchscan import measure_latency, profile_workload
from torchscan.process import measure_peak_memory

pytestmark = pytest.mark.gpu
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
needs_mps = pytest.mark.skipif(not torch.backends.mps.is_available(), reason="no MPS device on this machine")
MIB = 2**20


@needs_cuda
def test_cuda_peak_counts_what_the_allocator_gave() -> None:
    # a megabyte of floats is a multiple of the allocator's 512-byte rounding
    peak = measure_peak_memory(lambda: torch.zeros(MIB // 4, device="cuda"), device="cuda")
    assert peak["metric"] == "cuda_allocated_bytes"
    assert peak["delta_bytes"] == MIB
    assert peak["allocated_peak_bytes"] == peak["peak_bytes"]
    assert peak["reserved_peak_bytes"] >= peak["peak_bytes"]


@needs_cuda
def test_cuda_timing_waits_for_the_kernels() -> None:
    data = torch.ones(4096, 4096, device="cuda")
    report = measure_latency(lambda: data @ data, device="cuda", min_run_time=0.05)
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(20):
        data @ data
    torch.cuda.synchronize()
    assert report["totals"]["latency"]["value"] == pytest.approx((time.perf_counter() - started) / 20, rel=0.5)
    assert report["context"]["device_name"] == torch.cuda.get_device_name()


@needs_cuda
def test_cuda_profile_has_device_seconds() -> None:
    layer, data = nn.Linear(512, 512, device="cuda"), torch.ones(512, 512, device="cuda")
    report = profile_workload(lambda: layer(data), device="cuda")
    assert report["rows"][0]["device_self_seconds"] > 0


@needs_mps
def test_mps_peak_counts_tensors_and_watches_the_allocator() -> None:
    peak = measure_peak_memory(lambda: torch.zeros(MIB // 4, device="mps"), device="mps")
    assert peak["metric"] == "mps_tensor_bytes"
    assert peak["delta_bytes"] == MIB
    assert peak["allocated_peak_bytes"] >= MIB
