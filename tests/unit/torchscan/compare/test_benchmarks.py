from __future__ import annotations

import json
import subprocess
import sys
from copy import deepcopy
from typing import Any

import pytest
from support.benchmarks import TENSOR, make_benchmark, schema_faults

from torchscan import compare_benchmarks
from torchscan.report.benchmark import BenchmarkComparison
from torchscan.report.metric import complete, partial


def passing() -> None:
    """Agree."""


def disagreeing() -> None:
    assert [1.0] == [2.0]


def compare(before: Any, after: Any, check: Any = passing) -> BenchmarkComparison:
    return compare_benchmarks(before, after, check=check)


@pytest.mark.parametrize(
    ("after", "word"),
    [
        (0.0125, "slower"),
        (0.0075, "faster"),
        (0.0115, "within_variability"),  # the larger IQR is 2 ms
        (0.012, "within_variability"),  # equal to it still is within
        (None, "unavailable"),
    ],
)
def test_latency_change_is_held_against_the_larger_iqr(after: float | None, word: str) -> None:
    result = compare(make_benchmark(0.010, 0.001), make_benchmark(after, 0.002))
    assert result["latency_change"] == word
    assert schema_faults("benchmark_comparison", result) == []


def test_deltas_are_after_minus_before_where_both_are_complete() -> None:
    facts = {"unit": "FLOPs", "scope": "workload", "method": "m"}
    before = make_benchmark(totals={"operator_flops": complete(100, **facts)})
    after = make_benchmark(totals={"operator_flops": complete(112, **facts)})
    bound = make_benchmark(totals={"operator_flops": partial(112, **facts)})
    assert compare(before, after)["totals"]["operator_flops"]["delta"] == 12
    weaker = compare(before, bound)["totals"]["operator_flops"]
    assert (weaker["status"], weaker["delta"]) == ("partial", None)


@pytest.mark.parametrize("check", [lambda: False, disagreeing])
def test_a_failed_check_keeps_the_reports_and_withholds_every_delta(check: Any) -> None:
    before, after = make_benchmark(0.010), make_benchmark(0.020)
    result = compare(before, after, check)
    assert result["output_check"] == "failed"
    assert result["latency_change"] == "unavailable"
    assert {(delta["status"], delta["delta"]) for delta in result["totals"].values()} == {("unavailable", None)}
    assert result["before"]["totals"]["latency"]["value"] == 0.010
    assert schema_faults("benchmark_comparison", result) == []


@pytest.mark.parametrize("verdict", [None, True])
def test_none_and_true_pass(verdict: Any) -> None:
    assert compare(make_benchmark(), make_benchmark(), lambda: verdict)["output_check"] == "passed"


@pytest.mark.parametrize("verdict", [0, 1, "ok", []])
def test_any_other_answer_is_refused(verdict: Any) -> None:
    with pytest.raises(TypeError, match="check must return None, True or False"):
        compare(make_benchmark(), make_benchmark(), lambda: verdict)


def test_any_other_exception_of_the_check_comes_through() -> None:
    with pytest.raises(LookupError, match="mine"):
        compare(make_benchmark(), make_benchmark(), lambda: {}["mine"])


def test_a_check_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="check must be a callable"):
        compare(make_benchmark(), make_benchmark(), True)


@pytest.mark.parametrize(
    "key",
    [
        *("torch_version", "python_version", "torchscan_version", "platform", "machine", "processor", "device"),
        *("device_name", "cuda_version", "work_unit"),
    ],
)
def test_other_hardware_versions_or_units_cannot_be_compared(key: str) -> None:
    calls: list[int] = []
    with pytest.raises(ValueError, match=key):
        compare(make_benchmark(), make_benchmark(context={key: "other"}), lambda: calls.append(1))
    assert calls == []  # the check never ran


def test_other_inputs_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="inputs"):
        compare(make_benchmark(), make_benchmark(inputs={**TENSOR, "shape": [16, 8]}))


def test_inputs_that_nobody_described_cannot_be_compared() -> None:
    blind = make_benchmark(context={"inputs_source": "not_provided"}, inputs=None)
    with pytest.raises(ValueError, match=r"before: the inputs were not described; measure again with inputs="):
        compare(blind, blind)


def test_methods_must_agree_where_both_sides_measured() -> None:
    def counted(method: str) -> Any:
        return make_benchmark(totals={"operator_flops": complete(1, unit="FLOPs", scope="workload", method=method)})

    with pytest.raises(ValueError, match="operator_flops"):
        compare(counted("native"), counted("extended"))
    assert compare(counted("native"), make_benchmark())["totals"]["operator_flops"]["status"] == "unavailable"


def test_threads_and_timing_settings_may_differ_and_are_named() -> None:
    result = compare(make_benchmark(), make_benchmark(context={"num_threads": 4, "warmup": 9}))
    assert result["context_changes"] == {
        "num_threads": {"before": 2, "after": 4},
        "warmup": {"before": 5, "after": 9},
    }


@pytest.mark.parametrize(
    "broken",
    [
        None,
        {},
        {"schema_version": 2},
        {"schema_version": 1, "report_type": "benchmark_comparison"},
        {"schema_version": 1, "report_type": "benchmark"},
        {**make_benchmark(), "totals": {"latency": {"status": "complete"}}},
    ],
)
def test_a_malformed_report_is_named_by_its_side(broken: Any) -> None:
    with pytest.raises(ValueError, match=r"^after"):
        compare(make_benchmark(), broken)


def test_neither_report_is_changed() -> None:
    before, after = make_benchmark(0.01), make_benchmark(0.02)
    copies = deepcopy((before, after))
    compare(before, after)
    assert (before, after) == copies


def test_it_works_where_torch_is_not_installed() -> None:
    script = (
        "import sys, json; sys.modules['torch'] = None\n"
        "from torchscan import compare_benchmarks\n"
        "report = json.load(sys.stdin)\n"
        "print(compare_benchmarks(report, report, check=lambda: None)['output_check'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(make_benchmark()), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "passed", done.stderr
