"""Every public function on one small model: what has to be true on the oldest torch that pyproject allows."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import nn

import torchscan
from torchscan.process import measure_peak_memory, measure_peak_rss
from torchscan.report.analysis import AnalysisReport

BATCH = 5
PARAMETERS = (3 * 4 + 4) + (4 * 2 + 2)
MACS = BATCH * (3 * 4 + 4 * 2)


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).eval()


@pytest.fixture(scope="module")
def report() -> AnalysisReport:
    return torchscan.crawl_module(model(), args=(torch.ones(BATCH, 3),))


def workload() -> Any:
    net, inputs = model(), torch.ones(BATCH, 3)

    def call() -> Any:
        with torch.no_grad():
            return net(inputs)

    return call


def test_an_analysis_is_complete_and_right(report: AnalysisReport) -> None:
    totals = report["totals"]
    expected = {"parameters": PARAMETERS, "macs": MACS, "operator_macs": MACS}
    assert {name: totals[name]["value"] for name in expected} == expected
    assert [row["path"] for row in report["layers"]] == ["", "0", "1", "2"]


def test_the_native_flops_are_two_per_multiply_accumulate_and_leave_relu_open() -> None:
    total = torchscan.measure_flops(workload())["total"]
    assert (total["status"], total["known_value"]) == ("partial", 2 * MACS)


def test_the_summary_prints_what_it_returns(capsys: pytest.CaptureFixture[str]) -> None:
    returned = torchscan.summary(model(), args=(torch.ones(BATCH, 3),), mode="structure")
    assert returned["totals"]["parameters"]["value"] == PARAMETERS
    assert str(PARAMETERS) in capsys.readouterr().out


def test_a_report_compares_with_itself_and_becomes_a_page(report: AnalysisReport) -> None:
    assert torchscan.compare_reports(report, report)
    assert torchscan.render_report(report).startswith("<!doctype html>")


def test_latency_is_measured_and_compared() -> None:
    settings: dict[str, Any] = {"device": "cpu", "inputs": torch.ones(BATCH, 3), "min_run_time": 0.01}
    first, second = (torchscan.measure_latency(workload(), **settings) for _ in range(2))
    assert torchscan.compare_benchmarks(first, second, check=lambda: True)


def test_a_profile_names_the_operators() -> None:
    assert "addmm" in str(torchscan.profile_workload(workload(), device="cpu"))


def test_peak_memory_holds_what_lives_together() -> None:
    # given 2^18 floats that are there before, and a sum that needs as many: 1 MiB each
    before = torch.ones(1 << 18)
    assert measure_peak_memory(lambda: before + before, device="cpu")["delta_bytes"] == 1 << 20


def test_the_peak_of_a_child_process_is_more_than_what_it_holds() -> None:
    held = 32 << 20
    peak = measure_peak_rss([sys.executable, "-c", f"held = bytearray(b'x') * {held}"])
    assert peak["peak_bytes"] > held
