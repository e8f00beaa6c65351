"""Seeded machines that time two sides of nothing but noise and a known change, and evidence built from their rounds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, log1p
from typing import Any

from support.benchmarks import CONTEXT, TENSOR

from ci_action.core.timing.evidence import BenchmarkEvidence
from ci_action.core.timing.rounds import Round, block_order

BLOCKS = 12


@dataclass(frozen=True)
class Machine:
    """Faults of a real machine, each as a standard deviation or a size in the logarithm of a block's seconds."""

    block_sd: float = 0.01
    pair_sd: float = 0.0
    drift_per_block: float = 0.0
    second_slot: float = 0.0
    outlier_share: float = 0.0
    outlier_size: float = 0.0
    autocorrelation: float = 0.0
    mode_size: float = 0.0

    def rounds(self, rng: random.Random, pairs: int, change: float = 0.0, kind: Any = "pair") -> list[Round]:
        """Time pairs whose head takes ``change`` more than base."""
        return [self._round(rng, change, kind, starts_with_a=bool(index % 2)) for index in range(pairs)]

    def _round(self, rng: random.Random, change: float, kind: Any, *, starts_with_a: bool) -> Round:
        order = block_order(BLOCKS, starts_with_a=starts_with_a)
        # each process draws its own luck: memory layout, placement, mode
        luck = {side: rng.gauss(0, self.pair_sd / 2**0.5) + rng.choice((0, self.mode_size)) for side in "AB"}
        shared = self._weather(rng, len(order))
        seconds: dict[str, list[float]] = {"A": [], "B": []}
        for position, side in enumerate(order):
            value = luck[side] + shared[position] + rng.gauss(0, self.block_sd)
            value += self.second_slot * (position % 2) + (log1p(change) if side == "B" else 0.0)
            if rng.random() < self.outlier_share:
                value += self.outlier_size * rng.random()
            seconds[side].append(0.02 * exp(value))
        return {
            "kind": kind,
            "order": order,
            "calls_per_block": 1,
            "a_seconds": seconds["A"],
            "b_seconds": seconds["B"],
        }

    def _weather(self, rng: random.Random, count: int) -> list[float]:
        """What both sides feel: a drift through the pair, and load that comes and goes slowly."""
        found, state = [], rng.gauss(0, 0.2) if self.autocorrelation else 0.0
        for position in range(count):
            state = self.autocorrelation * state + (rng.gauss(0, 0.05) if self.autocorrelation else 0.0)
            found.append(state + self.drift_per_block * position)
        return found


def evidence(rounds: list[Round], identity: str = "net", **fields: Any) -> BenchmarkEvidence:
    side = {
        "context": {**CONTEXT, "work_units": 32},
        "inputs": TENSOR,
        "first_call_seconds": [0.05],
        "memory": [],
        "rss_bytes": [],
    }
    return {  # type: ignore[return-value] # the sides are overridden field by field
        "version": 1,
        "id": identity,
        "seed": 0,
        "mode": "lockstep",
        "planned_pairs": 10,
        "rounds": rounds,
        "base": side,
        "head": side,
        "output_check": {"method": "skip", "verdict": "not_run", "message": ""},
        "machine": [],
        "failure": None,
        "notes": [],
        **fields,
    }


def repeats(count: int, trial: Callable[[random.Random], bool]) -> Iterator[bool]:
    """Run a trial with seeds 0, 1, 2, ..."""
    for seed in range(count):
        yield trial(random.Random(seed))
