from __future__ import annotations

import pytest
from support.verdicts import limit, target

from ci_action.core.config.entries import Benchmark
from ci_action.core.timing.pairs import gated_timings, needed_pairs


# by hand: 0.05/k against 2^-5 = 0.03125, 2^-6 = 0.015625, 2^-7 = 0.0078125, 2^-8 = 0.00390625
@pytest.mark.parametrize(("gated", "pairs"), [(0, 6), (1, 6), (2, 7), (3, 7), (4, 8), (6, 8), (7, 9), (12, 9)])
def test_needed_pairs(gated: int, pairs: int) -> None:
    assert needed_pairs(gated) == pairs


def test_a_timing_with_two_limits_is_counted_once() -> None:
    timed = target("a", benchmark=Benchmark(metrics=("latency", "peak_memory")))
    limits = [limit("latency", max_increase=0.05), limit("latency", max=1.0), limit("peak_memory", max=1.0)]

    assert gated_timings([timed, target("b")], limits) == [("a", "latency")]
