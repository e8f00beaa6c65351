from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest
from support.rounds import Machine, evidence
from support.verdicts import config, limit, plan, result, target

from ci_action.core.comparing import compare
from ci_action.core.config.entries import Benchmark
from ci_action.core.document import to_json, verdict_document
from ci_action.core.judging import judge, judge_row
from ci_action.core.timing.assembling import side_report
from ci_action.core.timing.evidence_file import read_evidence
from ci_action.core.timing.rows import timing_rows, with_timings
from ci_action.core.verdict import Gate, Row, Word

LATENCY = limit("latency", max_increase=0.05)
QUIET = Machine(block_sd=0.004, pair_sd=0.004)


def timed(*metrics: str) -> Any:
    return target("net", benchmark=Benchmark(metrics=metrics or ("latency",)))


def rounds(change: float = 0.0, pairs: int = 10, controls: int = 8, seed: int = 1) -> Any:
    rng = random.Random(seed)
    return QUIET.rounds(rng, pairs, change=change) + QUIET.rounds(rng, controls, kind="control")


def rows(found: Any, *limits: Any, metrics: tuple[str, ...] = ("latency",)) -> list[Row]:
    planned = plan(config(timed(*metrics), limits=limits))
    return [judge_row(row, limits) for row in timing_rows(planned, {"net": found})["net"]]


@pytest.mark.parametrize(
    ("change", "word", "gate"),
    [
        (0.15, Word.REGRESSED, Gate.FAIL),
        (0.0, Word.WITHIN_NOISE, Gate.PASS),
        (0.05, Word.INCONCLUSIVE, Gate.WARN),
        (0.03, Word.CHANGED, Gate.PASS),
        (-0.15, Word.IMPROVED, Gate.PASS),
    ],
)
def test_the_interval_decides(change: float, word: Word, gate: Gate) -> None:
    (row,) = rows(evidence(rounds(change)), LATENCY)
    assert (row.word, row.gate) == (word, gate)
    assert row.interval is not None
    assert row.interval.pairs == 10
    assert row.interval.low <= row.interval.estimate <= row.interval.high


def test_a_strict_warning_and_a_generous_failure_are_judged_apart() -> None:
    warn = limit("latency", max_increase=0.05, on_exceed="warn")
    fail = limit("latency", max_increase=0.50)
    (row,) = rows(evidence(rounds(0.15)), warn, fail)
    assert (row.word, row.gate, row.limit) == (Word.REGRESSED, Gate.WARN, warn)


def test_fewer_blocks_of_throughput_are_a_regression() -> None:
    (row,) = rows(evidence(rounds(0.15)), limit("throughput", max_decrease=0.05), metrics=("throughput",))
    assert (row.word, row.gate) == (Word.REGRESSED, Gate.FAIL)
    assert row.interval is not None
    assert row.interval.estimate == pytest.approx(1 / 1.15 - 1, abs=0.01)


def test_an_unlimited_timing_is_described_and_not_gated() -> None:
    (row,) = rows(evidence(rounds(0.15, controls=0)))
    assert (row.word, row.gate) == (Word.CHANGED, Gate.NONE)


def test_a_noisy_machine_judges_nothing() -> None:
    biased = QUIET.rounds(random.Random(1), 8, change=0.04, kind="control")
    (row,) = rows(evidence(rounds(0.15, controls=0) + biased), LATENCY, limit("latency", max=0.0001))
    assert (row.word, row.gate) == (Word.INCONCLUSIVE, Gate.WARN)
    assert "noisy runner: base against itself moved +" in row.reason


def test_a_gated_timing_without_a_control_is_not_judged() -> None:
    (row,) = rows(evidence(rounds(0.15, controls=7)), LATENCY)
    assert (row.word, row.gate) == (Word.INCONCLUSIVE, Gate.WARN)
    assert "fewer than 8 pairs of base against itself" in row.reason


def test_too_few_pairs_are_no_evidence() -> None:
    (row,) = rows(evidence(rounds(0.50, pairs=5)), LATENCY)
    assert (row.word, row.interval, row.gate) == (Word.INCONCLUSIVE, None, Gate.WARN)
    assert row.reason == "5 of 10 pairs were measured, 6 are needed"


def test_a_failure_names_side_and_round() -> None:
    failed = {
        "side": "head",
        "round": 7,
        "failure": {"stage": "benchmark", "type": "RuntimeError", "message": "x", "frames": []},
    }
    (row,) = rows(evidence(rounds(0.15), failure=failed, head=None), LATENCY)
    assert (row.word, row.reason) == (Word.NOT_MEASURED, "head: RuntimeError in round 7")
    assert row.gate is Gate.UNKNOWN


def test_failed_outputs_withhold_the_change() -> None:
    check = {"method": "tolerances", "verdict": "failed", "message": ""}
    (row,) = rows(evidence(rounds(0.15), output_check=check), LATENCY)
    assert (row.word, row.interval) == (Word.NOT_COMPARABLE, None)
    assert row.reason == "outputs differ, change withheld"


def test_another_torch_is_not_comparable_and_says_so() -> None:
    found = evidence(rounds(0.15))
    found = {**found, "head": deepcopy(found["head"])}  # type: ignore[assignment]
    found["head"]["context"]["torch_version"] = "2.14.0"  # type: ignore[index]
    (row,) = rows(found, LATENCY)
    assert row.word is Word.NOT_COMPARABLE
    assert "torch_version: '2.13.0' and '2.14.0'" in row.reason


def test_without_evidence_there_is_a_row_that_says_so() -> None:
    planned = plan(config(timed(), limits=(LATENCY,)))
    (row,) = timing_rows(planned, {})["net"]
    assert (row.word, row.reason) == (Word.NOT_MEASURED, "the benchmark did not run")


def peaks(*values: int) -> list[dict[str, Any]]:
    facts = {"device": "cpu", "metric": "pytorch_tensor_bytes", "baseline_bytes": 0}
    return [{**facts, "peak_bytes": value, "delta_bytes": value} for value in values]


@pytest.mark.parametrize(
    ("base", "head", "word", "gate"),
    [
        ((100, 100), (100, 100), Word.UNCHANGED, Gate.PASS),
        ((100, 100), (120, 120), Word.REGRESSED, Gate.FAIL),
        ((100, 100), (120, 121), Word.EVIDENCE_LOST, Gate.FAIL),  # at least 121 is over the limit beyond doubt
        ((100, 100), (100, 101), Word.EVIDENCE_LOST, Gate.UNKNOWN),
    ],
)
def test_a_tensor_peak_is_exact_where_its_calls_agree(base: Any, head: Any, word: Word, gate: Gate) -> None:
    found = evidence(rounds())
    sides = {side: {**found[side], "memory": peaks(*values)} for side, values in (("base", base), ("head", head))}  # type: ignore[literal-required]
    (row,) = rows({**found, **sides}, limit("peak_memory", max_increase=0.05), metrics=("peak_memory",))
    assert (row.word, row.gate) == (word, gate)


@pytest.mark.parametrize(
    ("base", "head", "word", "gate"),
    [
        ([100, 110, 120], [100, 112, 130], Word.WITHIN_NOISE, Gate.PASS),
        # the medians say +13.6%, over the limit, and the children overlap: neither a failure nor a pass
        ([100, 110, 120], [115, 125, 130], Word.INCONCLUSIVE, Gate.WARN),
        ([100, 110, 120], [140, 150, 160], Word.REGRESSED, Gate.FAIL),
    ],
)
def test_resident_sets_differ_only_where_no_child_overlaps(base: Any, head: Any, word: Word, gate: Gate) -> None:
    found = evidence(rounds())
    sides = {side: {**found[side], "rss_bytes": values} for side, values in (("base", base), ("head", head))}  # type: ignore[literal-required]
    (row,) = rows({**found, **sides}, limit("process_peak_rss", max_increase=0.05), metrics=("process_peak_rss",))
    assert (row.word, row.gate) == (word, gate)


def test_controls_are_no_part_of_a_sides_latency() -> None:
    found = evidence(rounds(0.15))
    report = side_report(found, "base")
    assert report is not None
    assert report["measurement"]["measured_calls"] == 10 * 12
    assert report["totals"]["latency"]["method"] == "torchscan_lockstep_blocks_v1"


def test_the_rows_follow_from_the_saved_evidence_alone() -> None:
    found = evidence(rounds(0.15))
    assert rows(found, LATENCY) == rows(json.loads(json.dumps(found)), LATENCY)


def counts(base: Any, head: Any) -> Any:
    found = evidence([])
    for side, own in (("base", base), ("head", head)):
        counted = {"counts": own, "gap": ""} if isinstance(own, list) else {"counts": [], "gap": own}
        found[side] = {**found[side], "instructions": counted}  # type: ignore[literal-required]
    return read_evidence(found)


@pytest.mark.parametrize(
    ("base", "head", "word", "gate"),
    [
        # the middle count of each side: 1000 and 1005 differ by the floor of 0.5%, 1006 by more
        ([1000, 1000, 1009], [1005, 990, 1200], Word.UNCHANGED, Gate.PASS),
        ([1000, 1000, 1009], [1006, 990, 1200], Word.CHANGED, Gate.PASS),
        ([1000, 1000, 1000], [1011, 1011, 1011], Word.REGRESSED, Gate.FAIL),
        ([1000, 1000, 1000], [980, 980, 980], Word.IMPROVED, Gate.PASS),
        ("no_valgrind", "no_valgrind", Word.NOT_MEASURED, Gate.UNKNOWN),
        ([1000, 1000, 1000], "failed", Word.EVIDENCE_LOST, Gate.UNKNOWN),
    ],
)
def test_instructions_change_only_beyond_their_noise_floor(base: Any, head: Any, word: Word, gate: Gate) -> None:
    (row,) = rows(counts(base, head), limit("instructions", max_increase=0.01), metrics=("instructions",))
    assert (row.word, row.gate) == (word, gate)


def test_a_missing_count_says_why_and_on_which_side() -> None:
    (both,) = rows(counts("no_valgrind", "no_valgrind"), metrics=("instructions",))
    (one,) = rows(counts([5], "failed"), metrics=("instructions",))
    assert both.reason == "valgrind is not on the PATH: install it on the runner, or drop the metric"
    assert one.reason == "head: the workload did not get through under valgrind"
    assert both.head is not None
    assert (both.head["status"], both.head["unit"], both.head["value"]) == ("unavailable", "instructions", None)


def concluded(found: Any) -> str:
    planned = plan(config(timed("latency", "peak_memory"), limits=(LATENCY,)))
    verdicts = with_timings(planned, compare(planned, [result("base")], [result("head")]), {"net": found})
    return to_json(verdict_document(judge(planned, verdicts), planned))


def test_the_verdict_is_reproduced_from_the_file_byte_for_byte() -> None:
    found = evidence(rounds(0.15), mode="alternating", notes=["max-seconds leaves room for 7 of 10 pairs"])
    text = concluded(found)
    assert concluded(read_evidence(json.loads(json.dumps(found)))) == text
    # and the target says what a reader must know
    (shown,) = json.loads(text)["targets"]
    assert shown["notes"] == [
        "max-seconds leaves room for 7 of 10 pairs",
        "the two sides did not fit into memory together, so each pair ran one after the other",
        "outputs were not compared: output-check is skip",
    ]
    assert [row["word"] for row in shown["rows"] if row["metric"] == "latency"] == ["regressed"]


def test_a_benchmarks_failure_is_a_failure_of_its_target() -> None:
    inner = {"stage": "benchmark", "type": "Timeout", "message": "no answer within 60 s", "frames": []}
    found = evidence([], failure={"side": "head", "round": 0, "failure": inner}, base=None, head=None)
    (shown,) = json.loads(concluded(found))["targets"]
    assert shown["failures"][0]["message"] == "no answer within 60 s"
    assert {row["reason"] for row in shown["rows"] if row["metric"] == "latency"} == {"head: Timeout"}


def test_differing_outputs_are_said_with_the_place() -> None:
    check = {"method": "tolerances", "verdict": "failed", "message": "output[0]: shape [2] on base, [3] on head"}
    (shown,) = json.loads(concluded(evidence(rounds(), output_check=check)))["targets"]
    assert "the outputs differ: output[0]: shape [2] on base, [3] on head" in shown["notes"]
