from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.verdicts import (
    HEAD_SHA,
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

from ci_action.core import thresholds
from ci_action.core.comparing import compare
from ci_action.core.judging import judge
from ci_action.core.verdict import Acceptance, Gate, Interval, Shortfall, Word

FIVE_PERCENT = limit(max_increase=0.05)


@pytest.mark.parametrize(
    ("base", "head", "gate", "word"),
    [
        (100, 105, Gate.PASS, Word.CHANGED),  # exactly at the limit is within it
        (100, 106, Gate.FAIL, Word.REGRESSED),
        (100, 100, Gate.PASS, Word.UNCHANGED),
        (100, 95, Gate.PASS, Word.CHANGED),  # not better by more than the limit
        (100, 94, Gate.PASS, Word.IMPROVED),
        (0, 0, Gate.PASS, Word.UNCHANGED),
        (0, 1, Gate.FAIL, Word.REGRESSED),  # any increase from zero exceeds any percentage
    ],
)
def test_relative_limit(base: int, head: int, gate: Gate, word: Word) -> None:
    row = row_of(verdict_of(report(operator_flops=base), report(operator_flops=head), FIVE_PERCENT))

    assert (row.gate, row.word) == (gate, word)


def test_float_rounding_does_not_decide() -> None:
    # 0.29 * 100 is 28.999999999999996 in floating point, so 129 would read as over +29%
    verdict = verdict_of(report(operator_flops=100), report(operator_flops=129), limit(max_increase=0.29))

    assert verdict.outcome is Gate.PASS


@pytest.mark.parametrize(
    ("head", "gate"),
    [
        (120, Gate.PASS),  # +20% but only 20
        (1_001, Gate.FAIL),  # +901 and +901%
    ],
)
def test_relative_and_absolute_part_must_both_be_exceeded(head: int, gate: Gate) -> None:
    both = limit(max_increase=0.05, max_increase_by=50)

    assert row_of(verdict_of(report(operator_flops=100), report(operator_flops=head), both)).gate is gate


def test_absolute_part_alone_does_not_fail_a_small_share() -> None:
    both = limit(max_increase=0.05, max_increase_by=50)
    verdict = verdict_of(report(operator_flops=10_000), report(operator_flops=10_100), both)

    assert verdict.outcome is Gate.PASS


def test_cap_stands_alone() -> None:
    verdict = verdict_of(report(operator_flops=500), report(operator_flops=400), limit(max_increase=0.05, max=300))

    assert (verdict.outcome, verdict.exit_code) == (Gate.FAIL, 1)


def test_lower_bound_above_the_cap_is_a_proven_failure() -> None:
    bound = report(operator_flops=number("operator_flops", 301, bound=True))
    verdict = verdict_of(report(), bound, limit(max=300, on_unknown="ignore"))

    assert row_of(verdict).gate is Gate.FAIL
    assert row_of(verdict).word is Word.EVIDENCE_LOST


def test_lower_bound_past_the_relative_limit_is_a_proven_failure() -> None:
    bound = report(operator_flops=number("operator_flops", 106, bound=True))

    assert verdict_of(report(), bound, FIVE_PERCENT).exit_code == 1


@pytest.mark.parametrize(
    ("policy", "gate", "code"), [("fail", Gate.UNKNOWN, 3), ("warn", Gate.WARN, 0), ("ignore", Gate.NONE, 0)]
)
def test_lower_bound_below_the_limit_never_passes(policy: str, gate: Gate, code: int) -> None:
    bound = report(operator_flops=number("operator_flops", 1, bound=True))
    verdict = verdict_of(report(), bound, limit(max_increase=0.05, max=300, on_unknown=policy))

    assert row_of(verdict).gate is gate
    assert verdict.exit_code == code


@pytest.mark.parametrize(("policy", "code"), [("warn", 0), ("fail", 3)])
def test_missing_base_follows_its_policy(policy: str, code: int) -> None:
    verdict = verdict_of(failure(), report(), limit(max_increase=0.05, on_missing_base=policy))

    assert verdict.exit_code == code


def test_cap_is_judged_without_a_base() -> None:
    verdict = verdict_of(failure(), report(operator_flops=301), limit(max_increase=0.05, max=300))

    assert verdict.exit_code == 1


def test_on_exceed_warn_does_not_fail() -> None:
    verdict = verdict_of(report(), report(operator_flops=200), limit(max_increase=0.05, on_exceed="warn"))

    assert (verdict.outcome, verdict.exit_code) == (Gate.WARN, 0)


def test_strictest_of_two_limits_stays() -> None:
    soft, hard = limit(max_increase=0.03, on_exceed="warn"), limit(max_increase=0.10)
    between = verdict_of(report(), report(operator_flops=105), soft, hard)
    beyond = verdict_of(report(), report(operator_flops=120), soft, hard)

    assert (row_of(between).limit, between.outcome) == (soft, Gate.WARN)
    assert (row_of(beyond).limit, beyond.outcome) == (hard, Gate.FAIL)


def test_no_limits_reports_and_passes() -> None:
    verdict = verdict_of(report(), report(operator_flops=900))

    assert (verdict.outcome, verdict.exit_code) == (Gate.PASS, 0)
    assert {row.gate for row in verdict.targets[0].rows} == {Gate.NONE}


def test_nothing_measured_is_never_a_pass() -> None:
    empty = plan(config())

    assert judge(empty, compare(empty, [], [])).exit_code == 3
    assert verdict_of(failure(), failure()).exit_code == 3


def test_listed_target_that_fails_on_head_is_not_a_pass_even_without_limits() -> None:
    made = plan(config("net", "other"))
    base = [result("base"), result("base", identity="other")]
    head = [result("head", failure()), result("head", identity="other")]

    assert judge(made, compare(made, base, head)).exit_code == 3


def test_pull_request_cannot_raise_its_own_limit() -> None:
    made = plan(config("net", limits=(FIVE_PERCENT,)), config("net", limits=(limit(max_increase=9.0),)))
    verdict = judge(made, compare(made, [result("base")], [result("head", report(operator_flops=200))]))

    assert verdict.exit_code == 1
    assert any(note.startswith("limits:") for note in verdict.notes)


def test_first_run_reports_only() -> None:
    head = config("net", limits=(limit(max=1),))
    made = plan(None, head)
    verdict = judge(made, compare(made, [], [result("head")]))

    assert (verdict.outcome, verdict.exit_code) == (Gate.PASS, 0)


def test_new_target_is_held_to_caps_only() -> None:
    made = plan(config(limits=(limit(max_increase=0.0, max=300),)), config("net"))
    within = judge(made, compare(made, [], [result("head")]))
    over = judge(made, compare(made, [], [result("head", report(operator_flops=301))]))

    # the cap holds, and there is nothing to hold the increase against: no failure, and no pass either
    assert (row_of(within).word, row_of(within).gate) == (Word.NEW, Gate.NONE)
    assert over.exit_code == 1
    only_capped = plan(config(limits=(limit(max=300),)), config("net"))
    assert row_of(judge(only_capped, compare(only_capped, [], [result("head")]))).gate is Gate.PASS


@pytest.mark.parametrize(("policy", "code"), [("warn", 0), ("fail", 1)])
def test_removed_target_follows_its_policy(policy: str, code: int) -> None:
    made = plan(config("net", "stays", limits=(limit(max_increase=0.05, on_removed=policy),)), config("stays"))
    both = [result("base"), result("base", identity="stays")]
    verdict = judge(made, compare(made, both, [result("head", identity="stays")]))

    assert verdict.exit_code == code
    assert row_of(verdict).word is Word.REMOVED


def test_acceptance_turns_an_exceeded_limit_into_a_warning() -> None:
    accepted = Acceptance(label="ok", actor="octocat", head_sha=HEAD_SHA)
    verdict = verdict_of(report(), report(operator_flops=200), FIVE_PERCENT, accepted=accepted)

    assert (verdict.outcome, verdict.exit_code) == (Gate.WARN, 0)
    assert verdict.accepted == accepted


def test_acceptance_of_another_commit_does_not_count() -> None:
    stale = Acceptance(label="ok", actor="octocat", head_sha="d" * 40)
    verdict = verdict_of(report(), report(operator_flops=200), FIVE_PERCENT, accepted=stale)

    assert (verdict.exit_code, verdict.accepted) == (1, None)


def test_acceptance_does_not_cover_what_was_not_judged() -> None:
    accepted = Acceptance(label="ok", actor="octocat", head_sha=HEAD_SHA)

    assert verdict_of(report(), failure(), FIVE_PERCENT, accepted=accepted).exit_code == 3


def moved(low: float, high: float) -> Interval:
    return Interval(estimate=(low + high) / 2, low=low, high=high, confidence=0.95, pairs=10)


REFUSED = Shortfall(reason="torch changed", policy="on_unknown")


@pytest.mark.parametrize(
    ("interval", "fields", "word", "gate"),
    [
        (moved(0.06, 0.09), {}, Word.REGRESSED, Gate.FAIL),
        (moved(0.06, 0.09), {"on_exceed": "warn"}, Word.REGRESSED, Gate.WARN),
        (moved(-0.01, 0.02), {}, Word.WITHIN_NOISE, Gate.PASS),
        (moved(-0.09, -0.06), {}, Word.IMPROVED, Gate.PASS),
        (moved(0.03, 0.07), {}, Word.INCONCLUSIVE, Gate.WARN),
        (moved(0.03, 0.07), {"on_inconclusive": "fail"}, Word.INCONCLUSIVE, Gate.UNKNOWN),
        (None, {}, Word.INCONCLUSIVE, Gate.WARN),  # two latencies without an interval compare nothing
    ],
)
def test_the_interval_of_a_timing_decides_and_not_its_word(
    interval: Interval | None, fields: dict[str, str], word: Word, gate: Gate
) -> None:
    found = timing_row(Word.CHANGED, interval=interval)
    row = judge_rows([found], limit("latency", max_increase=0.05, **fields)).targets[0].rows[0]

    assert (row.word, row.gate) == (word, gate)


def test_a_timing_that_may_not_be_compared_is_unknown() -> None:
    found = timing_row(Word.NOT_COMPARABLE, shortfall=REFUSED)
    row = judge_rows([found], limit("latency", max_increase=0.05)).targets[0].rows[0]

    assert (row.word, row.gate) == (Word.NOT_COMPARABLE, Gate.UNKNOWN)


def test_timing_cap_is_judged_on_heads_number() -> None:
    verdict = judge_rows([timing_row(Word.WITHIN_NOISE, 0.010, 0.013)], limit("latency", max=0.012))

    assert verdict.exit_code == 1


@pytest.mark.parametrize(
    ("base", "head", "is_worse", "is_better"),
    [(100, 94, True, False), (100, 106, False, True), (100, 95, False, False)],
)
def test_throughput_may_rise_but_not_fall(base: int, head: int, is_worse: bool, is_better: bool) -> None:
    floor = limit("throughput", max_decrease=0.05)

    assert (thresholds.is_worse(floor, base, head), thresholds.is_better(floor, base, head)) == (is_worse, is_better)


def test_proven_failure_comes_before_unknown() -> None:
    bound = report(operator_flops=200, operator_macs=None)
    verdict = verdict_of(report(), bound, FIVE_PERCENT, limit("operator_macs", max_increase=0.05))

    assert (verdict.outcome, verdict.exit_code) == (Gate.FAIL, 1)


_VALUES = st.integers(min_value=0, max_value=10**15)
_SHARES = st.decimals(min_value=0, max_value=2, places=3).map(float)


@given(base=_VALUES, head=_VALUES, more=_VALUES, share=_SHARES)
def test_more_cost_never_turns_a_failure_into_a_pass(base: int, head: int, more: int, share: float) -> None:
    one, other = (
        verdict_of(report(operator_flops=base), report(operator_flops=value), limit(max_increase=share))
        for value in (head, head + more)
    )

    assert one.exit_code <= other.exit_code


@given(base=_VALUES, head=_VALUES, tight=_SHARES, loose=_SHARES)
def test_a_looser_limit_never_fails_what_a_tighter_one_passes(base: int, head: int, tight: float, loose: float) -> None:
    low, high = sorted((tight, loose))
    codes = [
        verdict_of(report(operator_flops=base), report(operator_flops=head), limit(max_increase=share)).exit_code
        for share in (low, high)
    ]

    assert codes[0] >= codes[1]


@given(base=_VALUES, head=_VALUES, amount=_VALUES)
def test_swapping_sides_swaps_better_and_worse(base: int, head: int, amount: int) -> None:
    by = limit(max_increase_by=float(amount))
    words = [
        row_of(verdict_of(report(operator_flops=one), report(operator_flops=other), by)).word
        for one, other in ((base, head), (head, base))
    ]

    mirror = {Word.REGRESSED: Word.IMPROVED, Word.IMPROVED: Word.REGRESSED}
    assert words[1] == mirror.get(words[0], words[0])
