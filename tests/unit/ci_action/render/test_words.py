from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.reports import Node, linear, make_report
from support.scenes import SCENES, rendered, scene
from support.verdicts import (
    config,
    failure,
    judge_rows,
    limit,
    number,
    plan,
    report,
    result,
    row_of,
    timing_row,
    verdict_of,
)

from ci_action.core.comparing import compare
from ci_action.core.judging import judge
from ci_action.core.metrics import METRICS, label
from ci_action.core.verdict import Gate, Interval, Word
from ci_action.render.causes import find_causes
from ci_action.render.gate import gate_line
from ci_action.render.headline import MOST_CHARACTERS, headline
from ci_action.render.rows import row_view
from ci_action.render.states import RESULTS, State, result_word, state_of
from ci_action.render.terminal import width

FIVE = limit(max_increase=0.05, text="+5%")


@pytest.mark.parametrize(
    ("base", "head", "limits", "state"),
    [
        (100, 200, (FIVE,), State.REGRESSION),
        (100, 200, (limit(max_increase=0.05, on_exceed="warn"),), State.WARNING),
        (100, 50, (FIVE,), State.IMPROVEMENT),
        (100, 101, (FIVE,), State.WITHIN),
        (100, 101, (), State.CHANGED),
        (100, 100, (FIVE,), State.EQUAL),
        (100, number("operator_flops", 50, bound=True), (FIVE,), State.LOST),
        (100, number("operator_flops", 50, bound=True), (), State.CHANGED),
        (number("operator_flops", 50, bound=True), 100, (FIVE,), State.INCONCLUSIVE),
        (number("operator_flops", None), number("operator_flops", None), (FIVE,), State.NOT_MEASURED),
        (number("operator_flops", None), number("operator_flops", None), (), State.EQUAL),
        (number("operator_flops", None), 100, (FIVE,), State.INCOMPARABLE),
    ],
)
def test_state_of_a_target(base: Any, head: Any, limits: tuple[Any, ...], state: State) -> None:
    verdict = verdict_of(report(operator_flops=base), report(operator_flops=head), *limits)

    assert state_of(verdict.targets[0]) is state


def test_a_failed_side_decides_the_state() -> None:
    assert state_of(verdict_of(report(), failure()).targets[0]) is State.NOT_MEASURED
    assert state_of(verdict_of(failure(), report()).targets[0]) is State.INCOMPARABLE


def test_every_word_and_gate_has_a_result() -> None:
    rows = [replace(timing_row(word), gate=gate) for word in Word for gate in Gate]

    assert {result_word(row) for row in rows} <= set(RESULTS)


def test_glyphs_of_results_are_never_alone() -> None:
    for name in SCENES:
        for line in rendered(name).comment.splitlines():
            if line.startswith(tuple(f"| {glyph}" for glyph, _ in RESULTS.values())):
                assert line.split("|")[1].split()[1] in RESULTS


@pytest.mark.parametrize(
    ("base", "head", "cells"),
    [
        (8_178_000_000, 9_000_000_000, ("8.178 G", "9.000 G", "+822 M (+10.1%)")),
        (100, 100, ("100", "100", "0")),
        (0, 5, ("0", "5", "+5 (was 0)")),
        (100, number("operator_flops", 50, bound=True), ("100", "≥ 50", "unknown")),
        (100, number("operator_flops", None), ("100", "—", "unknown")),
        (number("operator_flops", 50, bound=True), 100, ("≥ 50", "100", "unknown")),
    ],
)
def test_cells_of_a_row(base: Any, head: Any, cells: tuple[str, str, str]) -> None:
    row = row_of(verdict_of(report(operator_flops=base), report(operator_flops=head)))
    view = row_view(row)

    assert tuple(cell.replace("\u00a0", " ") for cell in (view.base, view.head, view.change)) == cells


def test_cap_is_shown_in_the_unit_of_its_number() -> None:
    capped = limit("operator_flops", max=1e9, text="max 1 G")
    row = row_of(verdict_of(report(), report(operator_flops=618_000_000), capped))

    assert row_view(row).limit.replace("\u00a0", " ") == "max 1000 M"


def test_interval_is_shown_instead_of_a_difference() -> None:
    change = Interval(estimate=0.049, low=0.034, high=0.064, confidence=0.95, pairs=10)
    row = judge_rows([timing_row(Word.CHANGED, 0.01241, 0.01302, interval=change)]).targets[0].rows[0]

    assert row_view(row).change == "+4.9% [+3.4, +6.4]"


def test_headline_keeps_to_its_length_with_the_longest_names() -> None:
    long = "n" * 100
    made = plan(config(long, "b" * 100, limits=(FIVE,)))
    heads = [result("head", report(operator_flops=200), long), result("head", failure(), "b" * 100)]
    verdict = judge(made, compare(made, [result("base", identity=long), result("base", identity="b" * 100)], heads))
    line = headline(verdict, made)

    assert len(line) <= MOST_CHARACTERS
    assert line.startswith("❌ Regression: nnn")
    assert "limit +5%" in line


def test_gate_is_not_passed_where_nothing_was_judged() -> None:
    unjudged = verdict_of(report(), report(operator_flops=200))
    ignored = verdict_of(
        report(), report(operator_flops=number("operator_flops", 1, bound=True)), limit(max=5, on_unknown="ignore")
    )
    warned = verdict_of(
        report(), report(operator_flops=number("operator_flops", 1, bound=True)), limit(max=5, on_unknown="warn")
    )
    made = plan(config("net", limits=(FIVE,)))

    assert [gate_line(verdict, made).status for verdict in (unjudged, ignored, warned)] == [
        "not set",
        "not judged",
        "not judged",
    ]
    assert gate_line(ignored, made).why == "1 gated metric could not be judged; policy: ignore"


def test_a_pass_counts_what_was_left_out_in_words() -> None:
    bound = report(operator_flops=number("operator_flops", 1, bound=True))
    verdict = verdict_of(report(), bound, limit("macs", max_increase=0.05), limit(max=5, on_unknown="ignore"))
    line = gate_line(verdict, plan(config("net", limits=(FIVE,))))

    assert (line.status, line.why) == ("passed", "1 gated metric could not be judged; policy: ignore")
    assert verdict.exit_code == 0


def test_swapped_sides_give_the_mirrored_change() -> None:
    there = row_view(row_of(verdict_of(report(operator_flops=20_000), report(operator_flops=21_000))))
    back = row_view(row_of(verdict_of(report(operator_flops=21_000), report(operator_flops=20_000))))

    assert (there.base, there.head) == (back.head, back.base)
    assert (there.change, back.change) == ("+1,000 (+5.0%)", "−1,000 (−4.8%)")


def test_causes_rank_calls_by_their_own_work() -> None:
    def net(*widths: int) -> Any:
        children = tuple(linear(f"fc{index}", 8, width, tokens=1) for index, width in enumerate(widths))
        return make_report(Node("net", "Net", children=children))

    made = scene({"resnet50": net(8, 80, 9)}, {"resnet50": net(8, 40, 8)}, names=("resnet50",))
    base, head = made.results
    found = find_causes(made.verdict.targets[0], base, head)

    assert found is not None
    assert (found.changed_calls, found.all_calls) == (2, 4)
    # 2 x 8 x (80 - 40) = 640 and 2 x 8 x (9 - 8) = 16
    assert [(row.path, row.change) for row in found.rows] == [("fc1", "+640"), ("fc2", "+16")]


def test_a_new_call_is_a_cause_from_absent() -> None:
    def net(*names: str) -> Any:
        return make_report(Node("net", "Net", children=tuple(linear(name, 8, 8, tokens=1) for name in names)))

    made = scene({"resnet50": net("a", "b")}, {"resnet50": net("a")}, names=("resnet50",))
    found = find_causes(made.verdict.targets[0], *made.results)

    assert found is not None
    assert [(row.path, row.base, row.head, row.change) for row in found.rows] == [("b", "absent", "128", "+128")]


def test_a_call_that_is_only_a_bound_is_no_cause() -> None:
    def net(width: int, *, bound: bool) -> Any:
        made = make_report(Node("net", "Net", children=(linear("a", 8, width, tokens=1), linear("b", 8, 8, tokens=1))))
        odd = made["layers"][2]["metrics"]["operator_flops"]
        made["layers"][2]["metrics"]["operator_flops"] = {**odd, "status": "partial", "value": None} if bound else odd
        return made

    made = scene({"resnet50": net(16, bound=True)}, {"resnet50": net(8, bound=False)}, names=("resnet50",))
    found = find_causes(made.verdict.targets[0], *made.results)

    assert found is not None
    assert [row.path for row in found.rows] == ["a"]


def test_equal_totals_have_no_cause() -> None:
    made = scene(names=("resnet50",))

    assert find_causes(made.verdict.targets[0], *made.results) is None


def test_labels_keep_the_two_methods_apart() -> None:
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)
    assert (label("macs"), label("operator_macs"), label("module_flops")) == (
        "module MACs",
        "operator MACs",
        "module FLOPs",
    )


@pytest.mark.parametrize(("text", "cells"), [("abc", 3), ("名前", 4), ("e\u0301", 1), ("≥ 1", 3)])
def test_width_counts_cells(text: str, cells: int) -> None:
    assert width(text) == cells


def test_terminal_columns_line_up() -> None:
    lines = rendered("one_regression").terminal.splitlines()
    table = [line for line in lines if line.startswith(("Result", "over ", "warn ", "changed "))]

    assert len({line.index(word) for line, word in zip(table, ("Target", *["resnet50"] * 4), strict=True)}) == 1
