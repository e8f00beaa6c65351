"""The gate as a theorem: every combination of what a row can be, held against rules that share no code with it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import nan
from typing import Any

import pytest
from support.rounds import Machine, evidence
from support.verdicts import config, limit, plan, result, target

from ci_action.core.comparing import compare
from ci_action.core.config.entries import Benchmark, Limit, OutputCheck
from ci_action.core.deciding import decide
from ci_action.core.judging import judge
from ci_action.core.timing.rows import with_timings
from ci_action.core.verdict import Basis, Gate, Interval, Presence, Row, Shortfall, Verdict, Word
from torchscan.report.metric import MetricResult

_WARNINGS, _REMOVED, _POLICIES = {Gate.WARN, Gate.UNKNOWN}, {Gate.FAIL, Gate.WARN}, {Gate.UNKNOWN, Gate.WARN, Gate.NONE}
_UNITS = {"operator_flops": "FLOPs", "process_peak_rss": "bytes", "latency": "seconds"}


@dataclass(frozen=True)
class Value:
    """One side's result, and what it is worth: a whole number, a lower bound, or nothing."""

    status: str
    value: float | None
    known: float | None

    @property
    def whole(self) -> float | None:
        is_whole = self.status == "complete" and self.value == self.known and self.known == self.known  # NaN is not
        return self.value if is_whole else None

    @property
    def bound(self) -> float | None:
        return self.known if self.known is not None and self.known == self.known else None

    def result(self, metric: str) -> MetricResult:
        return {  # type: ignore[return-value] # a status that contradicts its numbers is one of the states
            "status": self.status,
            "value": self.value,
            "known_value": self.known,
            "unit": _UNITS[metric],
            "scope": "x",
            "method": "x",
        }


def whole(number: float) -> Value:
    return Value("complete", number, number)


NOTHING, LYING, NOT_A_NUMBER = Value("unavailable", None, None), Value("complete", 50, 400), whole(nan)
BASES = (None, NOTHING, Value("partial", None, 90), whole(0), whole(100), LYING, NOT_A_NUMBER)
HEADS = (None, NOTHING, Value("partial", None, 50), Value("partial", None, 400), LYING, NOT_A_NUMBER)
HEADS += tuple(map(whole, (0, 100, 105, 106, 160, 400)))
DOUBTS = (
    None,
    *(
        Shortfall(reason="doubt", policy=policy, can_fail=can_fail, is_of_head=is_of_head)
        for policy in ("on_unknown", "on_inconclusive", "on_missing_base")
        for can_fail, is_of_head in product((False, True), repeat=2)
    ),
)
FORMS: tuple[dict[str, float], ...] = (
    {"max": 300},
    {"max_increase": 0.05},
    {"max_increase_by": 50},
    {"max_increase": 0.05, "max_increase_by": 50},
    {"max_increase": 0.05, "max": 300},
)
_KEYS = ("on_exceed", "on_unknown", "on_inconclusive", "on_missing_base", "on_removed")
POLICIES = [
    dict(zip(_KEYS, words, strict=True))
    for words in (
        ("fail", "fail", "fail", "fail", "fail"),
        ("fail", "warn", "fail", "warn", "warn"),
        ("fail", "ignore", "warn", "warn", "warn"),
        ("fail", "fail", "warn", "warn", "warn"),  # what an owner has who writes none
        ("warn", "ignore", "warn", "fail", "fail"),
        ("warn", "fail", "fail", "warn", "warn"),
    )
]
INTERVALS = {
    "none": None,
    "below": (-0.01, 0.02),
    "better": (-0.2, -0.1),
    "around": (0.03, 0.08),
    "above": (0.6, 0.9),
}


STATES = {"operator_flops": 40_170, "process_peak_rss": 80_340, "latency": 105_300}
"""How many combinations are tried: a state that drops out of the enumeration is noticed."""


def limits(metric: str) -> list[Limit]:
    return [limit(metric, **form, **policies) for form, policies in product(FORMS, POLICIES)]  # type: ignore[arg-type]


def rows(metric: str) -> Iterator[tuple[Row, Value, Value, str]]:
    """Every row of one metric, with both values and the name of its interval."""
    spans = INTERVALS if metric == "latency" else {"none": None}
    scatter = (False, True) if metric == "process_peak_rss" else (False,)
    for presence, base, head, doubt, span, overlaps in product(Presence, BASES, HEADS, DOUBTS, spans, scatter):
        if (presence is Presence.NEW and base is not None) or (presence is Presence.REMOVED and head is not None):
            continue
        ends = spans[span]
        change = (
            None
            if ends is None
            else Interval(estimate=sum(ends) / 2, low=ends[0], high=ends[1], confidence=0.95, pairs=9)
        )
        yield (
            Row(
                target="net",
                metric=metric,
                base=base and base.result(metric),
                head=head and head.result(metric),
                word=Word.REMOVED if presence is Presence.REMOVED else Word.CHANGED,
                presence=presence,
                shortfall=doubt,
                interval=change,
                is_within_scatter=overlaps,
            ),
            base or NOTHING,
            head or NOTHING,
            span,
        )


def exceeds(base: float, head: float, held: Limit) -> bool:
    """Both parts of a relative limit, in plain words and whole numbers."""
    share, amount = held.max_increase, held.max_increase_by
    if share is None and amount is None:
        return False
    over_share = share is None or (head - base) * 100 > share * 100 * base
    return over_share and (amount is None or head - base > amount)


def is_relative(held: Limit) -> bool:
    return held.max_increase is not None or held.max_increase_by is not None


def may_pass(row: Row, base: Value, head: Value, span: str, held: Limit) -> bool:
    """What a pass has to rest on."""
    if row.presence is Presence.REMOVED or head.whole is None:
        return False
    if held.max is not None and (head.whole > held.max or (row.shortfall is not None and row.shortfall.is_of_head)):
        return False
    if not is_relative(held):
        return True
    if row.presence is Presence.NEW or base.whole is None or row.shortfall is not None:
        return False
    if row.metric == "latency":
        return span in {"below", "better"}
    return not exceeds(base.whole, head.whole, held)


def must_fail(row: Row, base: Value, head: Value, span: str, held: Limit) -> bool:
    """What proves an exceeded limit, whatever else is missing."""
    if row.presence is Presence.REMOVED:
        return False
    doubt = row.shortfall
    is_over_cap = held.max is not None and head.bound is not None and head.bound > held.max
    if is_over_cap and (doubt is None or not doubt.is_of_head or doubt.can_fail):
        return True
    if not is_relative(held) or row.presence is Presence.NEW or base.whole is None or head.bound is None:
        return False
    if doubt is not None and not doubt.can_fail:
        return False
    if row.metric == "latency":
        return span == "above"
    return exceeds(base.whole, head.bound, held) and not (row.is_within_scatter and head.whole is not None)


@pytest.mark.parametrize("metric", list(_UNITS))
def test_a_pass_and_a_failure_rest_on_evidence_alone(metric: str) -> None:
    seen: Counter[Gate] = Counter()
    for row, base, head, span in rows(metric):
        for held in limits(metric):
            # an interval is a share, so absolute parts are left to test_noise; and no timing takes 0 s
            if metric == "latency" and (held.max_increase_by is not None or base.whole == 0):
                continue
            found = decide(row, held)
            state = (row, held)
            seen[found.gate] += 1
            if must_fail(row, base, head, span, held):
                # a warning may stand beside another part of the limit that could not be judged, which may say more
                assert found.gate is Gate.FAIL if held.on_exceed == "fail" else found.gate in _WARNINGS, state
            elif may_pass(row, base, head, span, held):
                assert (found.gate, found.basis) == (Gate.PASS, Basis.EVIDENCE), state
            else:
                assert found.basis is Basis.POLICY, state
                assert found.gate in (_REMOVED if row.is_removed else _POLICIES), state
                if row.is_new and head.whole is not None and row.shortfall is None:  # nobody's fault, so no policy
                    assert found.gate is Gate.NONE, state
    assert all(seen[gate] > 1_000 for gate in Gate), seen  # every answer is really tried
    assert sum(seen.values()) == STATES[metric]


def test_each_gap_is_answered_by_its_own_policy() -> None:
    """One policy at a time says "fail", so that what answers is known by name."""
    row = Row(target="net", metric="operator_flops", base=None, head=None, word=Word.CHANGED)
    good, bound = whole(100).result("operator_flops"), Value("partial", None, 1).result("operator_flops")
    states: dict[str, dict[str, Any]] = {
        "on_unknown": {"base": good, "head": bound},
        "on_missing_base": {"base": bound, "head": good},
        "on_inconclusive": {"base": good, "head": whole(200).result("operator_flops"), "is_within_scatter": True},
        "on_removed": {"base": good, "presence": Presence.REMOVED},
    }
    mild = {"on_unknown": "ignore", "on_missing_base": "warn", "on_inconclusive": "warn", "on_removed": "warn"}
    for policy, state in states.items():
        found = Row(**{**{name: getattr(row, name) for name in ("target", "metric", "base", "head", "word")}, **state})
        for strict in mild:
            gate = decide(found, limit(max_increase=0.05, **{**mild, strict: "fail"})).gate
            assert (gate in {Gate.UNKNOWN, Gate.FAIL}) == (strict == policy), (policy, strict)


QUIET = Machine(block_sd=0.002, pair_sd=0.002)
STAGES = ("benchmark", "isolation", "worker")
PEAK = {"device": "cpu", "metric": "pytorch_tensor_bytes", "baseline_bytes": 0}


@cache
def timed_rounds(pairs: int, controls: str) -> tuple[Any, ...]:
    """Rounds of a head that takes 30% longer, and controls: enough and quiet, enough and noisy, too few."""
    rng = random.Random(3)
    count, drift = {"quiet": (8, 0.0), "noisy": (8, 0.2), "few": (3, 0.0)}[controls]
    return (*QUIET.rounds(rng, pairs, change=0.3), *QUIET.rounds(rng, count, change=drift, kind="control"))


def side(*, memory: int | None) -> dict[str, Any]:
    found: dict[str, Any] = dict(evidence([])["base"])  # type: ignore[arg-type]
    return {**found, "memory": [] if memory is None else [{**PEAK, "peak_bytes": memory, "delta_bytes": memory}] * 2}


def runs(*limited: str) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """Whole judgements of one timed target: each side failing at each stage, with what it had measured by then."""
    failing = [(None, ""), *product(("base", "head"), STAGES)]
    peaks = (None, 100, 150)  # head's: not reached, as base, over the limit
    checks = (("skip", "not_run"), ("tolerances", "passed"), ("tolerances", "failed"), ("tolerances", "not_run"))
    for (failed, stage), peak, pairs, controls, check in product(
        failing, peaks, (0, 3, 10), ("quiet", "noisy", "few"), checks
    ):
        asked = OutputCheck() if check[0] == "skip" else OutputCheck(rtol=0.1)
        entry = target("net", benchmark=Benchmark(metrics=("latency", "peak_memory"), output_check=asked))
        held = tuple(limit(metric, max_increase=0.05) for metric in limited)
        planned = plan(config(entry, limits=held))
        failure = {"stage": stage, "type": "Boom", "message": "", "frames": []}
        found = evidence(
            list(timed_rounds(pairs, controls)),
            base=side(memory=100),
            head=side(memory=peak),
            output_check={"method": check[0], "verdict": check[1], "message": ""},
            failure=None if failed is None else {"side": failed, "round": 4, "failure": failure},
        )
        verdicts = compare(planned, [result("base")], [result("head")])
        facts = (failed, stage, peak, pairs, controls, check[1], check[0] != "skip")
        names = ("failed", "stage", "peak", "pairs", "controls", "check", "asked")
        state = dict(zip(names, facts, strict=True))
        yield state, judge(planned, with_timings(planned, verdicts, {"net": found}))


def test_a_side_that_fails_at_any_stage_neither_hides_a_regression_nor_passes_unmeasured() -> None:
    count = 0
    for state, verdict in runs("latency", "peak_memory"):
        count += 1
        (judged,) = verdict.targets
        gates = {row.metric: row.gate for row in judged.rows if row.limit}
        foreign = state["stage"] == "isolation"
        compared = not foreign and state["check"] != "failed"
        unchecked = state["asked"] and state["check"] == "not_run"

        over = compared and state["peak"] == 150
        assert (gates["peak_memory"] is Gate.FAIL) == over, state
        assert (gates["peak_memory"] is Gate.PASS) == (compared and not unchecked and state["peak"] == 100), state

        proven = compared and state["pairs"] == 10 and state["controls"] == "quiet"
        assert (gates["latency"] is Gate.FAIL) == proven, state
        assert gates["latency"] is not Gate.PASS, state  # 30% slower never passes, however little was measured

        assert (verdict.exit_code == 1) == (over or proven), state
        if state["failed"] == "head":
            assert verdict.exit_code != 0, state
        assert (verdict.exit_code == 0) == (verdict.outcome in {Gate.PASS, Gate.WARN, Gate.NONE}), state
    assert count == 7 * 3 * 3 * 3 * 4


def test_a_head_that_fails_after_its_last_limited_value_is_not_a_pass() -> None:
    """A base that lists a target wants it measured to its end, whichever of its metrics has a limit."""
    for state, verdict in runs("peak_memory"):
        if state["failed"] == "head":
            assert verdict.exit_code != 0, state
        elif state["peak"] == 100 and state["check"] == "passed" and state["stage"] != "isolation":
            assert verdict.exit_code == 0, state  # where base alone failed, head's limited value still stands
