from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from support.benchmarks import schema_faults

from torchscan import measure_latency

QUICK: dict[str, Any] = {"device": "cpu", "warmup": 1, "min_run_time": 0.002, "min_repeats": 3}


@pytest.fixture
def three_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(threads)


def test_the_report_is_plain_json_of_the_shipped_schema() -> None:
    report = measure_latency(lambda: None, inputs=torch.ones(2, 3), **QUICK)
    assert schema_faults("benchmark", report) == []
    assert report["inputs"]["shape"] == [2, 3]
    assert report["context"]["inputs_source"] == "caller_supplied"


def test_a_slow_workload_still_gives_repeats_and_a_spread() -> None:
    # given a workload that alone fills min_run_time with one block
    report = measure_latency(lambda: time.sleep(0.004), **QUICK)
    # then its IQR rests on min_repeats blocks, not on one
    measured = report["measurement"]
    assert len(measured["raw_times_seconds"]) == 3
    assert measured["measured_calls"] == 3 * measured["number_per_run"]
    assert report["totals"]["latency_iqr"]["value"] > 0


def test_median_iqr_and_throughput_follow_from_the_raw_evidence() -> None:
    report = measure_latency(lambda: time.sleep(0.001), work_units=8, work_unit="images", **QUICK)
    number, totals = report["measurement"]["number_per_run"], report["totals"]
    per_call = sorted(seconds / number for seconds in report["measurement"]["raw_times_seconds"])
    middle = len(per_call) // 2
    median = per_call[middle] if len(per_call) % 2 else (per_call[middle - 1] + per_call[middle]) / 2
    assert totals["latency"]["value"] == pytest.approx(median)
    assert totals["latency"]["value"] >= 0.001
    assert totals["throughput"]["value"] == pytest.approx(8 / median)
    assert totals["throughput"]["unit"] == "images/s"


def test_what_a_timing_does_not_measure_is_unavailable_and_not_zero() -> None:
    totals = measure_latency(lambda: None, **QUICK)["totals"]
    for name in ("operator_flops", "peak_memory", "process_peak_rss"):
        assert (totals[name]["status"], totals[name]["value"], totals[name]["method"]) == (
            "unavailable",
            None,
            "not_requested",
        )


def test_the_first_call_is_timed_alone() -> None:
    waits = iter([0.05])
    report = measure_latency(lambda: time.sleep(next(waits, 0)), **QUICK)
    assert report["totals"]["first_call_latency"]["value"] >= 0.05
    assert report["totals"]["latency"]["value"] < 0.05


@pytest.mark.usefixtures("three_threads")
def test_blocks_run_with_the_callers_threads() -> None:
    # Timer would set one thread (pytorch#106801)
    seen: set[int] = set()
    report = measure_latency(lambda: seen.add(torch.get_num_threads()), **QUICK)
    assert seen == {3}
    assert report["context"]["num_threads"] == 3


@pytest.mark.parametrize("ending", [None, RuntimeError("mine"), KeyboardInterrupt()])
@pytest.mark.usefixtures("three_threads")
def test_the_process_is_left_as_it_was(ending: BaseException | None) -> None:
    calls = 0

    def meddling() -> None:
        nonlocal calls
        calls += 1
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        torch.rand(3)
        random.random()
        if ending is not None and calls == 4:
            raise ending

    before = torch.get_rng_state(), random.getstate()
    if ending is None:
        measure_latency(meddling, **QUICK)
    else:
        with pytest.raises(type(ending)):
            measure_latency(meddling, **QUICK)
    assert torch.get_num_threads() == 3
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]


@pytest.mark.usefixtures("three_threads")
def test_threads_that_the_workload_sets_are_those_of_the_report_and_not_of_the_caller() -> None:
    report = measure_latency(lambda: torch.set_num_threads(1), **QUICK)
    assert report["context"]["num_threads"] == 1
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_a_workload_that_keeps_changing_its_threads_is_warned_about() -> None:
    counts = itertools.cycle([1, 2])

    def restless() -> None:
        time.sleep(0.003)  # one call fills a block
        torch.set_num_threads(next(counts))

    with pytest.warns(RuntimeWarning, match=r"changes torch's threads between its calls \(seen: 1, 2\)"):
        measure_latency(restless, **QUICK)
    assert torch.get_num_threads() == 3


def test_values_of_inputs_stay_out_of_the_report() -> None:
    report = measure_latency(lambda: None, inputs={"ids": torch.full((2,), 12345.0), "path": "/secret"}, **QUICK)
    text = json.dumps(report)
    assert "12345" not in text
    assert "/secret" not in text
