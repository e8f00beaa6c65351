from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.verdicts import config, limit, target

from ci_action.commands.check import described
from ci_action.core.config.entries import Benchmark
from ci_action.core.timing.duration import benchmark_seconds

LATENCY = limit("latency", max_increase=0.05)


def of(*metrics: str, limits: Any = (), max_seconds: float | None = None) -> Any:
    return replace(config(target("net", benchmark=Benchmark(metrics=metrics)), limits=limits), max_seconds=max_seconds)


# a round: 3 s until both workers are ready, and 0.4 s of blocks for each of them: 3.8 s
@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (of("latency"), 10 * 3.8),
        (of("latency", limits=(LATENCY,)), (10 + 8) * 3.8),  # a limit on a timing needs eight controls
        (of("latency", limits=(LATENCY,), max_seconds=50.0), 50.0),
        (of("latency", limits=(LATENCY,), max_seconds=1.0), 8 * 3.8),  # controls are never cut
        (of("peak_memory"), 0.0),
        (of("instructions"), 60.0),
        (of("latency", "instructions", max_seconds=5.0), 65.0),
    ],
)
def test_a_run_takes_its_rounds_and_its_counts(given: Any, seconds: float) -> None:
    assert benchmark_seconds(given) == pytest.approx(seconds)


def test_check_says_how_long_the_benchmarks_take() -> None:
    assert any("about 1.1 min" in line for line in described(of("latency", limits=(LATENCY,))))
    assert not any(" min " in line for line in described(of("peak_memory")))
