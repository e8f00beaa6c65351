from __future__ import annotations

from typing import Any

import pytest

from torchscan.measure.device import resolve_device
from torchscan.measure.latency import measure_latency
from torchscan.measure.memory import measure_peak_memory
from torchscan.measure.profiler import profile_workload


class Counted:
    """A workload that must not be reached."""

    calls = 0

    def __call__(self) -> None:
        self.calls += 1


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"work_units": 0}, ValueError, "work_units"),
        ({"work_units": float("nan")}, ValueError, "work_units"),
        ({"work_units": True}, TypeError, "work_units"),
        ({"work_unit": ""}, ValueError, "work_unit"),
        ({"work_unit": "a\nb"}, ValueError, "work_unit"),
        ({"work_unit": 3}, TypeError, "work_unit"),
        ({"warmup": -1}, ValueError, "warmup"),
        ({"warmup": 1.5}, TypeError, "warmup"),
        ({"min_run_time": 0}, ValueError, "min_run_time"),
        ({"min_run_time": float("inf")}, ValueError, "min_run_time"),
        ({"min_run_time": "1"}, TypeError, "min_run_time"),
        ({"min_repeats": 1}, ValueError, "min_repeats must be an int of at least 2"),
        ({"device": "tpu9"}, ValueError, "accepted on this machine: cpu"),
        ({"device": "meta"}, ValueError, "accepted on this machine: cpu"),
        ({"device": "cuda:99"}, ValueError, "device 'cuda:99'"),
        ({"device": None}, TypeError, "device must be a string or a torch.device"),
    ],
)
def test_a_bad_argument_is_named_before_the_workload_runs(
    arguments: dict[str, Any], error: type[Exception], named: str
) -> None:
    workload = Counted()
    with pytest.raises(error, match=named):
        measure_latency(workload, **{"device": "cpu", **arguments})
    assert workload.calls == 0


@pytest.mark.parametrize("measure", [measure_latency, measure_peak_memory, profile_workload])
def test_what_cannot_be_called_is_no_workload(measure: Any) -> None:
    with pytest.raises(TypeError, match="workload must be a callable without arguments, got int"):
        measure(3, device="cpu")


def test_a_cpu_index_is_the_cpu() -> None:
    assert str(resolve_device("cpu:0")) == "cpu"
