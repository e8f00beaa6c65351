"""Seeded machines with every fault that a shared runner has, and how often the pairs are wrong about them."""

from __future__ import annotations

import random
from itertools import chain
from math import log

import pytest
from scipy import stats
from support.rounds import Machine, evidence, repeats
from support.verdicts import config, limit, plan, target

from ci_action.core.config.entries import Benchmark
from ci_action.core.timing.noise import bars, control, interval, word_under
from ci_action.core.timing.pairs import ALPHA
from ci_action.core.timing.rounds import Round, log_ratios, read_round
from ci_action.core.timing.rows import timing_rows
from ci_action.core.timing.wilcoxon import estimate_shift
from ci_action.core.verdict import Word

FIVE_PERCENT = limit("latency", max_increase=0.05)
TRIALS = 300

MACHINES = {
    "quiet": Machine(),
    "drifting": Machine(drift_per_block=0.01),
    "unfair to the second slot": Machine(second_slot=0.05),
    "with outliers": Machine(outlier_share=0.1, outlier_size=3.0),
    "loaded in waves": Machine(autocorrelation=0.95),
    "bistable": Machine(mode_size=0.10),
    "all at once": Machine(
        pair_sd=0.03,
        drift_per_block=0.005,
        second_slot=0.03,
        outlier_share=0.05,
        outlier_size=2.0,
        autocorrelation=0.9,
        mode_size=0.05,
    ),
}


def word(rounds: list[Round], pairs: int = 10) -> Word:
    shift = estimate_shift(log_ratios(rounds, "pair"), ALPHA)
    assert shift is not None
    return word_under(FIVE_PERCENT, 1.0, interval(shift, pairs))


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES.keys())
def test_head_at_the_limit_fails_at_most_as_often_as_alpha(machine: Machine) -> None:
    # given a head that is exactly at the limit, the hardest case that may not fail
    failures = sum(repeats(TRIALS, lambda rng: word(machine.rounds(rng, 10, change=0.05)) is Word.REGRESSED))
    assert failures / TRIALS <= ALPHA


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES.keys())
def test_the_same_code_is_never_regressed_and_never_improved(machine: Machine) -> None:
    words = [word(machine.rounds(random.Random(seed), 10)) for seed in range(TRIALS)]
    assert words.count(Word.REGRESSED) + words.count(Word.IMPROVED) <= TRIALS * ALPHA / 10


@pytest.mark.parametrize(("pair_sd", "least"), [(0.04, 0.8), (0.051, 0.6)])
def test_twice_the_limit_is_found(pair_sd: float, least: float) -> None:
    machine = Machine(pair_sd=pair_sd)
    found = sum(repeats(TRIALS, lambda rng: word(machine.rounds(rng, 10, change=0.10)) is Word.REGRESSED)) / TRIALS
    print(f"power at twice the limit, pair sd {pair_sd}: {found:.3f}")
    assert found >= least


def is_noisy(machine: Machine, seed: int, bias: float = 0.0) -> bool:
    verdict = control(log_ratios(machine.rounds(random.Random(seed), 8, change=bias, kind="control"), "control"))
    return verdict is not None and verdict.is_noisy


def test_an_honest_machine_is_seldom_called_noisy_and_a_biased_one_always() -> None:
    assert sum(is_noisy(MACHINES["all at once"], seed) for seed in range(TRIALS)) / TRIALS <= 0.02
    # a machine that favours whichever process stands first
    assert all(is_noisy(Machine(), seed, bias=0.05) for seed in range(50))


def test_pooled_samples_alarm_where_pairs_do_not() -> None:
    # given the same code, timed in processes that each draw a mode of their own
    pooled_alarms = pair_alarms = 0
    for seed in range(100):
        rounds = Machine(block_sd=0.005, mode_size=0.15).rounds(random.Random(seed), 10)
        pairs = [read_round(item) for item in rounds]
        # when the blocks are taken for independent samples
        base = list(chain.from_iterable(pair.a_seconds for pair in pairs))
        head = list(chain.from_iterable(pair.b_seconds for pair in pairs))
        pooled_alarms += stats.mannwhitneyu(base, head, alternative="less").pvalue < ALPHA / 2
        # and when the pair is the unit
        shift = estimate_shift(log_ratios(rounds, "pair"), ALPHA)
        pair_alarms += shift is not None and shift.low > 0
    # then pooling "proves" a slowdown far too often, and pairs as seldom as they promise
    print(f"of 100 runs of the same code, pooled blocks alarm in {pooled_alarms}, pairs in {pair_alarms}")
    assert pooled_alarms >= 25
    assert pair_alarms <= 5


def test_a_family_of_timings_errs_together_as_seldom_as_one() -> None:
    # given four models, all exactly at their limit
    names = ("a", "b", "c", "d")
    entries = [target(name, benchmark=Benchmark(metrics=("latency",))) for name in names]
    judged = plan(config(*entries, limits=(FIVE_PERCENT,)))

    def errs(rng: random.Random) -> bool:
        machine = Machine(pair_sd=0.03)
        controls = machine.rounds(rng, 8, kind="control")
        found = {name: evidence(machine.rounds(rng, 10, change=0.05) + controls[:2], name) for name in names}
        rows = [row for rows in timing_rows(judged, found).values() for row in rows]
        return any(
            row.interval is not None and word_under(FIVE_PERCENT, 1.0, row.interval) is Word.REGRESSED for row in rows
        )

    assert sum(repeats(TRIALS, errs)) / TRIALS <= ALPHA


def test_swapping_the_sides_negates_the_change() -> None:
    rounds = MACHINES["all at once"].rounds(random.Random(1), 10, change=0.10)
    swapped = [{**item, "a_seconds": item["b_seconds"], "b_seconds": item["a_seconds"]} for item in rounds]
    shifts = [estimate_shift(log_ratios(side, "pair"), ALPHA) for side in (rounds, swapped)]  # type: ignore[arg-type]
    assert shifts[0] is not None
    assert shifts[1] is not None
    assert shifts[1].estimate == pytest.approx(-shifts[0].estimate)
    assert shifts[1].low == pytest.approx(-shifts[0].high)
    assert bars(FIVE_PERCENT, 1.0)[0].height == pytest.approx(log(1.05))
