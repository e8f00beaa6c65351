"""How long the benchmarks of a config will take, guessed before anything is known of its models. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci_action.core.timing.lockstep import SIDE_SECONDS, is_timed
from ci_action.core.timing.noise import CONTROL_PAIRS
from ci_action.core.timing.pairs import gated_timings

if TYPE_CHECKING:
    from ci_action.core.config.entries import Config

READY_SECONDS = 3.0
"""Two workers side by side on two cores: Python, torch, a small model, its warm-up. Large models take longer."""

ROUND_SECONDS = READY_SECONDS + 2 * SIDE_SECONDS
COUNTING_SECONDS = 60.0
"""Both sides under valgrind, side by side. A minute is what torch and a small model take there."""


def benchmark_seconds(config: Config) -> float:
    """Guess what a run's benchmarks take for models that are built and called quickly.

    ``max-seconds`` cuts pairs alone: neither the controls, without which no pair is believed, nor what is counted.
    """
    benchmarks = [target.benchmark for target in config.targets if target.benchmark]
    pairs = sum(benchmark.pairs for benchmark in benchmarks if is_timed(benchmark))
    controls = CONTROL_PAIRS if gated_timings(config.targets, config.limits) else 0
    timing = (pairs + controls) * ROUND_SECONDS
    if config.max_seconds is not None:
        timing = max(min(timing, config.max_seconds), controls * ROUND_SECONDS)
    return timing + COUNTING_SECONDS * sum("instructions" in benchmark.metrics for benchmark in benchmarks)
