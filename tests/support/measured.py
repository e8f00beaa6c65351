"""Builders of benchmark reports. Times are given as seconds per call; a block holds ten calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchscan.report.benchmark import BenchmarkReport
from torchscan.report.blocks import Timings, measurement, timing_totals
from torchscan.report.metric import complete, unavailable

TIMES = tuple(1e-3 * (1 + 0.01 * ((7 * at) % 11)) for at in range(24))


def make_benchmark(
    times: Sequence[float] = TIMES, *, profile: Sequence[tuple[str, int, float]] = (), **changes: Any
) -> BenchmarkReport:
    """Report a workload of 32 samples. ``profile`` lists operator, calls and CPU self seconds."""
    timings = Timings(
        first_call_seconds=5e-3, number_per_run=10, raw_times_seconds=tuple(10 * seconds for seconds in times)
    )
    memory = {"device": "cpu", "metric": "pytorch_tensor_bytes", "baseline_bytes": 98_816, "peak_bytes": 115_200}
    report: Any = {
        "schema_version": 1,
        "report_type": "benchmark",
        "context": {
            "torchscan_version": "0.3.0",
            "torch_version": "2.13.0",
            "python_version": "3.11.7",
            "platform": "Linux-x86_64",
            "machine": "x86_64",
            "processor": "test",
            "device": "cpu",
            "device_name": "test CPU",
            "num_threads": 1,
            "num_interop_threads": 1,
            "cuda_version": None,
            "inputs_source": "caller_supplied",
            "work_units": 32,
            "work_unit": "samples",
            "warmup": 5,
            "min_run_time": 0.2,
            "min_repeats": 5,
            "profile_status": "collected" if profile else "not_requested",
        },
        "inputs": {
            "kind": "tensor",
            "shape": [32, 128],
            "dtype": "torch.float32",
            "device": "cpu",
            "requires_grad": False,
        },
        "totals": {
            **timing_totals(timings, 32, "samples", ("latency", "throughput")),
            "operator_flops": complete(1_048_576, unit="FLOPs", scope="workload", method="torchscan_operators_v1"),
            "peak_memory": complete(115_200, unit="bytes", scope="pytorch_tensor_bytes", method="storages"),
            "process_peak_rss": unavailable(unit="bytes", scope="child_process_lifetime", method="not_requested"),
        },
        "measurement": measurement(timings),
        "memory": {**memory, "delta_bytes": 16_384},
        "diagnostics": [],
    }
    if profile:
        report["profile"] = {
            "schema_version": 1,
            "context": {},
            "rows": [
                {
                    "operator": name,
                    "calls": calls,
                    "input_shapes": [],
                    "cpu_self_seconds": seconds,
                    "device_self_seconds": None,
                    "cpu_net_bytes": 0,
                }
                for name, calls, seconds in profile
            ],
            "total_operators": len(profile),
        }
    return {**report, **changes}
