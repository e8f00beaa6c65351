from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import pytest
import torch
from support.benchmarks import schema_faults

from torchscan import measure_workload

QUICK: dict[str, Any] = {"device": "cpu", "warmup": 1, "min_run_time": 0.002, "min_repeats": 3, "print_summary": False}


def quickstart() -> Any:
    model, inputs = torch.nn.Linear(128, 128).eval(), torch.randn(32, 128)
    return torch.inference_mode()(lambda: model(inputs)), inputs


def test_everything_asked_for_is_measured_and_valid() -> None:
    workload, inputs = quickstart()
    report = measure_workload(
        workload,
        inputs=inputs,
        work_units=32,
        profile=True,
        rss_command=[sys.executable, "-I", "-S", "-c", "pass"],
        **QUICK,
    )
    assert schema_faults("benchmark", report) == []
    assert {metric["status"] for metric in report["totals"].values()} == {"complete"}
    # 32 rows x 128 outputs x 128 products, two operations each
    assert report["totals"]["operator_flops"]["value"] == 1_048_576
    assert report["memory"]["delta_bytes"] == 32 * 128 * 4
    assert report["context"]["profile_status"] == "collected"
    assert report["totals"]["throughput"]["unit"] == "samples/s"


def test_only_what_is_asked_for_runs() -> None:
    calls = []
    report = measure_workload(lambda: calls.append(1), metrics=["flops", "memory"], **QUICK)
    assert len(calls) == 2  # one call each
    for name in ("first_call_latency", "latency", "latency_iqr", "throughput", "process_peak_rss"):
        assert report["totals"][name]["method"] == "not_requested"
    assert report["measurement"] == {"number_per_run": 0, "raw_times_seconds": [], "measured_calls": 0}
    assert "profile" not in report
    assert schema_faults("benchmark", report) == []


def test_throughput_alone_claims_no_latency() -> None:
    totals = measure_workload(lambda: None, metrics=["throughput"], **QUICK)["totals"]
    assert totals["throughput"]["status"] == "complete"
    assert totals["latency"]["status"] == "unavailable"


def test_timing_comes_first() -> None:
    # given a workload that records whether a dispatch mode or a profiler watches it
    watched = []

    def workload() -> None:
        watched.append(
            torch.utils._python_dispatch._len_torch_dispatch_stack() > 0 or torch.autograd._profiler_enabled()
        )

    measure_workload(workload, profile=True, **QUICK)
    assert watched[-3:] == [True, True, True]
    assert not any(watched[:-3])


def test_an_operator_without_a_formula_stays_partial() -> None:
    data = torch.ones(8)
    report = measure_workload(lambda: torch.sin(data), metrics=["flops"], formulas="native", **QUICK)
    assert report["totals"]["operator_flops"]["status"] == "partial"
    assert report["diagnostics"][0]["operator"] == "aten.sin"


def test_the_summary_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    measure_workload(lambda: None, **QUICK)
    assert capsys.readouterr().out == ""
    measure_workload(lambda: None, **{**QUICK, "print_summary": True})
    assert capsys.readouterr().out.startswith("Workload on cpu (")


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"metrics": ["speed"]}, ValueError, "metrics accepts flops, latency, throughput, memory; got 'speed'"),
        ({"metrics": "flops"}, TypeError, "metrics must be a sequence"),
        ({"formulas": "best"}, ValueError, "formulas must be one of native, extended"),
        ({"profile": 1}, TypeError, "profile must be True or False"),
        ({"print_summary": "no"}, TypeError, "print_summary must be True or False"),
        ({"rss_command": "python run.py"}, TypeError, "rss_command must be a sequence"),
        ({"work_units": -1}, ValueError, "work_units"),
    ],
)
def test_a_bad_argument_is_named_before_the_workload_runs(
    arguments: dict[str, Any], error: type[Exception], named: str
) -> None:
    calls = []
    with pytest.raises(error, match=named):
        measure_workload(lambda: calls.append(1), **{**QUICK, **arguments})
    assert calls == []


def test_the_random_stream_of_the_caller_goes_on_where_it_was() -> None:
    before = torch.get_rng_state(), random.getstate()
    measure_workload(lambda: torch.rand(2) + random.random(), profile=True, **QUICK)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]


def test_threads_that_the_workload_sets_are_named_and_given_back() -> None:
    threads = torch.get_num_threads()
    report = measure_workload(lambda: torch.set_num_threads(threads + 1), profile=True, **QUICK)
    assert report["context"]["num_threads"] == report["profile"]["context"]["num_threads"] == threads + 1
    assert torch.get_num_threads() == threads


def test_the_owners_example_runs_as_written(tmp_path: Any) -> None:
    script = """
import json
from pathlib import Path

import torch
from torchscan import measure_workload, render_report

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Linear(128, 128).eval()
inputs = torch.randn(32, 128)


@torch.inference_mode()
def workload():
    return model(inputs)


report = measure_workload(workload, device="cpu", inputs=inputs, work_units=32, work_unit="samples")
Path("workload.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
Path("workload.html").write_text(render_report(report), encoding="utf-8")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Workload on cpu (1 PyTorch threads)"
    assert lines[5:] == [
        "  Operator FLOPs: 1,048,576.000 FLOPs",
        "  PyTorch peak memory: 0.094 MiB",
        "    Scope: PyTorch tracked CPU tensors",
        "  Process peak RSS: unavailable (not requested)",
        "  Profiler: not requested (separate instrumented pass)",
    ]
    assert (tmp_path / "workload.html").stat().st_size > 0
