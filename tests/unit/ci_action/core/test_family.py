from __future__ import annotations

import random
from typing import Any

import pytest
from support.rounds import Machine, evidence
from support.verdicts import config, limit, plan, target

from ci_action.core.config.entries import Benchmark
from ci_action.core.timing.family import family

QUIET = Machine(block_sd=0.004, pair_sd=0.004)


def levels(*limits: Any, **changes: float) -> Any:
    """The levels of latencies a and b, whose heads take that much more."""
    entries = [target(name, benchmark=Benchmark()) for name in changes]
    found = {
        name: evidence(QUIET.rounds(random.Random(1), 10, change=change), name) for name, change in changes.items()
    }
    shared = family(plan(config(*entries, limits=limits)), found)
    return [shared.level((name, "latency")) for name in changes]


def test_a_proven_regression_leaves_its_share_to_the_other() -> None:
    assert levels(limit("latency", max_increase=0.05), a=0.20, b=0.0) == pytest.approx([0.025, 0.05])


def test_nothing_proven_halves_the_budget() -> None:
    assert levels(limit("latency", max_increase=0.05), a=0.0, b=0.0) == pytest.approx([0.025, 0.025])


def test_a_generous_limit_that_holds_keeps_its_share() -> None:
    # a is over 5% and not over 50%: the budget may not step past it, or its verdict on 50% would be one error too many
    strict, generous = limit("latency", max_increase=0.05), limit("latency", max_increase=0.50)
    assert levels(strict, generous, a=0.20, b=0.0) == pytest.approx([0.025, 0.025])


def test_what_no_limit_covers_is_described_at_the_whole_level() -> None:
    assert levels(limit("latency", targets=("a",), max_increase=0.05), a=0.0, b=0.0) == pytest.approx([0.05, 0.05])


def test_a_cap_alone_is_no_test_and_takes_its_share() -> None:
    assert levels(limit("latency", max=1.0), a=0.20, b=0.20) == pytest.approx([0.025, 0.025])
