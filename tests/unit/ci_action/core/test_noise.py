from __future__ import annotations

from math import inf, log

import pytest
from support.verdicts import limit

from ci_action.core.timing.noise import Bar, bars, control, word_under
from ci_action.core.verdict import Interval, Word


def change(low: float, high: float) -> Interval:
    return Interval(estimate=(low + high) / 2, low=low, high=high, confidence=0.95, pairs=10)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.051, 0.20, Word.REGRESSED),
        (0.05, 0.20, Word.INCONCLUSIVE),  # at the limit is not beyond it
        (-0.021, 0.11, Word.INCONCLUSIVE),
        (-0.03, 0.04, Word.WITHIN_NOISE),
        (0.01, 0.04, Word.CHANGED),
        (-0.20, -0.048, Word.IMPROVED),  # 1/1.05 - 1 = -4.76%
        (-0.20, -0.047, Word.CHANGED),
    ],
)
def test_words_of_an_interval_under_five_percent(low: float, high: float, word: Word) -> None:
    assert word_under(limit("latency", max_increase=0.05), 1.0, change(low, high)) is word


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(-0.2, -0.06, Word.REGRESSED), (-0.06, 0.01, Word.INCONCLUSIVE), (0.06, 0.1, Word.IMPROVED)],
)
def test_less_throughput_is_worse(low: float, high: float, word: Word) -> None:
    assert word_under(limit("throughput", max_decrease=0.05), 100.0, change(low, high)) is word


def test_both_parts_must_be_exceeded() -> None:
    # 5% of 1 ms is 0.05 ms, so the 0.5 ms count: 50%; of 100 ms the 5% count
    both = limit("latency", max_increase=0.05, max_increase_by=0.0005)
    assert bars(both, 0.001)[0] == Bar(1, pytest.approx(log(1.5)))  # type: ignore[arg-type]
    assert bars(both, 0.1)[0] == Bar(1, pytest.approx(log(1.05)))  # type: ignore[arg-type]


def test_nothing_can_fall_by_more_than_all_of_it() -> None:
    assert bars(limit("throughput", max_decrease=1.0), 1.0) == (Bar(-1, inf),)
    assert bars(limit("latency", max=1.0), 1.0) == ()


def test_a_machine_that_moves_the_same_code_is_noisy() -> None:
    biased = control([0.02, 0.03, 0.01, 0.04, 0.05, 0.06, 0.025, 0.035])
    assert biased is not None
    # all eight of one sign: 2 of 256 patterns
    assert biased.p_value == 2 / 256
    assert biased.is_noisy
    even = control([0.02, -0.03, 0.01, -0.04, 0.05, -0.06, 0.025, -0.035])
    assert even is not None
    assert not even.is_noisy


def test_seven_control_pairs_cannot_speak() -> None:
    assert control([0.01] * 7) is None
