from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from support.benchmarks import schema_faults

from torchscan import profile_workload


def test_operators_are_ranked_by_their_own_time() -> None:
    data = torch.ones(64, 64)
    report = profile_workload(lambda: data @ data + 1, device="cpu")
    names = {row["operator"]: row for row in report["rows"]}
    assert names["aten::mm"]["calls"] == 1
    assert names["aten::mm"]["input_shapes"] == [[64, 64], [64, 64]]
    assert names["aten::mm"]["cpu_net_bytes"] == 64 * 64 * 4
    assert names["aten::mm"]["device_self_seconds"] is None
    times = [row["cpu_self_seconds"] for row in report["rows"]]
    assert times == sorted(times, reverse=True)
    assert schema_faults("profile", report) == []


def test_the_limit_cuts_rows_and_says_how_many_there_were() -> None:
    report = profile_workload(lambda: torch.ones(3).exp().sin(), device="cpu", limit=1)
    assert len(report["rows"]) == 1
    assert report["total_operators"] > 1


def test_the_workload_runs_exactly_once_and_its_error_comes_through() -> None:
    calls = []
    with pytest.raises(LookupError, match="mine"):
        profile_workload(lambda: calls.append(1) or {}["mine"], device="cpu")
    assert calls == [1]
    assert not torch.autograd._profiler_enabled()


def test_a_trace_is_written_once_and_never_over_a_file(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    report = profile_workload(lambda: torch.ones(3).exp(), device="cpu", trace_path=trace)
    assert report["trace_path"] == str(trace)
    assert "traceEvents" in json.loads(trace.read_text())
    calls: list[int] = []
    with pytest.raises(FileExistsError, match="trace_path"):
        profile_workload(lambda: calls.append(1), device="cpu", trace_path=trace)
    with pytest.raises(FileNotFoundError, match="trace_path"):
        profile_workload(lambda: calls.append(1), device="cpu", trace_path=tmp_path / "no" / "trace.json")
    with pytest.raises(TypeError, match="trace_path"):
        profile_workload(lambda: calls.append(1), device="cpu", trace_path=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="limit"):
        profile_workload(lambda: calls.append(1), device="cpu", limit=0)
    assert calls == []


def test_an_active_profiler_is_not_broken() -> None:
    calls: list[int] = []
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as outer:
        with pytest.raises(RuntimeError, match="active profiler"):
            profile_workload(lambda: calls.append(1), device="cpu")
        torch.ones(3).exp()
    assert calls == []
    assert any(event.key == "aten::exp" for event in outer.key_averages())
