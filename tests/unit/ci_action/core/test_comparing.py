from __future__ import annotations

from typing import Any

import pytest
from support.verdicts import config, failure, number, plan, report, result, target

from ci_action.core.comparing import compare
from ci_action.core.verdict import TargetVerdict, Word
from torchscan.report.analysis import COMPUTE_TOTALS, STORAGE_TOTALS, TOTALS
from torchscan.report.metric import complete, unavailable


def compared(base: Any, head: Any) -> TargetVerdict:
    return compare(plan(config("net")), [result("base", base)], [result("head", head)])[0]


def words(verdict: TargetVerdict) -> dict[str, Word]:
    return {row.metric: row.word for row in verdict.rows}


def test_headline_metrics_come_first_and_every_total_once() -> None:
    metrics = [row.metric for row in compared(report(), report()).rows]

    assert metrics[:3] == ["parameters", "operator_flops", "operator_macs"]
    assert sorted(metrics) == sorted(TOTALS)


BOUND, NOTHING = number("operator_flops", 50, bound=True), number("operator_flops", None)


@pytest.mark.parametrize(
    ("base", "head", "word", "reason"),
    [
        (100, 100, Word.UNCHANGED, ""),
        (100, 101, Word.CHANGED, ""),
        (100, 99, Word.CHANGED, ""),
        (100, BOUND, Word.EVIDENCE_LOST, "head is a lower bound"),
        (100, NOTHING, Word.EVIDENCE_LOST, "head: unavailable"),
        (BOUND, 100, Word.INCONCLUSIVE, "base is a lower bound"),
        (BOUND, BOUND, Word.INCONCLUSIVE, "both sides are lower bounds"),
        (NOTHING, 100, Word.NOT_MEASURED, "base: unavailable"),
        (NOTHING, NOTHING, Word.NOT_MEASURED, "base: unavailable; head: unavailable"),
        (BOUND, NOTHING, Word.NOT_MEASURED, "head: unavailable"),
    ],
)
def test_word_of_each_pair_of_states(base: Any, head: Any, word: Word, reason: str) -> None:
    verdict = compared(report(operator_flops=base), report(operator_flops=head))
    row = next(row for row in verdict.rows if row.metric == "operator_flops")

    assert (row.word, row.reason) == (word, reason)


def test_not_requested_metrics_have_no_row() -> None:
    skipped = {name: unavailable(unit="FLOPs", scope="model", method="not_requested") for name in COMPUTE_TOTALS}
    verdict = compare(
        plan(config(target("net", analysis="structure"))),
        [result("base", report(**skipped))],
        [result("head", report(**skipped))],
    )[0]

    assert sorted(row.metric for row in verdict.rows) == sorted(STORAGE_TOTALS)


def test_turning_the_analysis_off_on_head_loses_evidence() -> None:
    made = plan(config("net"), config(target("net", analysis="off")))
    off = {**result("head"), "report": None}

    assert set(words(compare(made, [result("base")], [off])[0]).values()) == {Word.EVIDENCE_LOST}  # type: ignore[list-item]


def test_one_refused_metric_does_not_end_the_comparison() -> None:
    other = complete(200, unit="FLOPs", scope="model", method="another_method")
    verdict = compared(report(), report(module_flops=other, parameters=101))
    row = next(row for row in verdict.rows if row.metric == "module_flops")

    assert (row.word, row.reason) == (Word.NOT_COMPARABLE, "its method was torchscan_flops_v1 and is another_method")
    assert words(verdict)["parameters"] is Word.CHANGED
    assert verdict.diff is not None
    assert "module_flops" not in verdict.diff["totals"]


def test_duplicated_calls_make_the_whole_pair_incomparable() -> None:
    layer = {"path": "a", "call_index": 0, "type": "Linear", "metrics": {}}
    verdict = compared(report(), report(layers=[layer, layer]))

    assert set(words(verdict).values()) == {Word.NOT_COMPARABLE}
    assert "listed twice" in verdict.rows[0].reason


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("torch_version", "2.14.0", "torch 2.13.0 → 2.14.0"),
        ("python_version", "3.13.1", "Python 3.11.7 → 3.13.1"),
        ("dtypes", ["torch.bfloat16"], "dtypes torch.float32 → torch.bfloat16"),
    ],
)
def test_another_context_withholds_execution_but_not_storage(field: str, value: Any, reason: str) -> None:
    head = report(parameters=101)
    head["context"][field] = value  # type: ignore[literal-required]
    verdict = compared(report(), head)

    assert {words(verdict)[name] for name in COMPUTE_TOTALS} == {Word.NOT_COMPARABLE}
    assert words(verdict)["parameters"] is Word.CHANGED
    assert next(row.reason for row in verdict.rows if row.metric == "macs") == reason


def test_other_inputs_are_another_workload() -> None:
    head = report()
    head["inputs"] = {**head["inputs"], "args": [{"kind": "tensor", "shape": [8, 3]}]}

    assert words(compared(report(), head))["operator_flops"] is Word.NOT_COMPARABLE


def test_a_failed_side_leaves_the_other_sides_numbers() -> None:
    verdict = compared(report(), failure("RuntimeError"))

    assert {row.word for row in verdict.rows} == {Word.NOT_MEASURED}
    assert verdict.rows[0].reason == "head: RuntimeError"
    assert (verdict.rows[0].base, verdict.rows[0].head) == (number("parameters", 100), None)
    assert [item.side for item in verdict.failures] == ["head"]


def test_a_missing_result_is_a_failure_not_a_gap() -> None:
    verdict = compare(plan(config("net")), [result("base")], [])[0]

    assert verdict.failure("head") is not None
    assert not verdict.is_measured


def test_one_targets_failure_does_not_stop_the_others() -> None:
    made = plan(config("net", "other"))
    both = [result("base"), result("base", identity="other")]
    verdicts = compare(made, both, [result("head", failure()), result("head", identity="other")])

    assert [verdict.is_measured for verdict in verdicts] == [False, True]


def test_new_and_removed_targets_keep_the_numbers_of_their_side() -> None:
    made = plan(config("gone"), config("new"))
    gone, new = compare(made, [result("base", identity="gone")], [result("head", identity="new")])

    assert {row.word for row in gone.rows} == {Word.REMOVED}
    assert {row.word for row in new.rows} == {Word.NEW}
    assert (gone.rows[0].base, new.rows[0].base) == (number("parameters", 100), None)


def test_a_new_target_that_fails_is_not_measured() -> None:
    verdict = compare(plan(config(), config("net")), [], [result("head", failure())])[0]

    assert {row.word for row in verdict.rows} == {Word.NOT_MEASURED}


def test_swapping_the_sides_swaps_the_numbers() -> None:
    one, other = report(operator_flops=1), report(operator_flops=2)
    there, back = compared(one, other), compared(other, one)

    assert [(row.base, row.head) for row in there.rows] == [(row.head, row.base) for row in back.rows]
    assert words(there) == words(back)
