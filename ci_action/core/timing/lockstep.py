"""How a target's lockstep rounds are drawn, and what is said to the processes that run them. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

from ci_action.core.timing.pairs import TIMED, gated_timings
from ci_action.core.timing.rounds import Kind, block_order

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from ci_action.core.config.entries import Benchmark
    from ci_action.core.plan import Plan
    from ci_action.core.spec import Failure, WorkerSpec
    from torchscan.report.benchmark import BenchmarkContext

BLOCK_SECONDS = 0.005
"""Long against the clock and a switch of processes; short against a scheduler's slice, so that most blocks are whole.

Measured on two cores with six other processes: the sd of a pair was 0.062 with 16 blocks of 20 ms and 0.028 with 60
blocks of 5 ms, which take as long.
"""

SIDE_SECONDS = 0.4
"""What one side of a pair is timed for, where its calls are short enough."""

FEWEST_BLOCKS, MOST_BLOCKS = 10, 60

RSS_CHILDREN = 3
ANSWER_BYTES = 1 << 20
OUTPUT_BYTES = 256 << 20
"""What one side's outputs may take on disk for the check."""


class Command(TypedDict):
    """What a worker is told."""

    do: Literal["calibrate", "block", "peak", "outputs", "rss", "instructions"]
    calls: NotRequired[int]
    folder: NotRequired[str]


class Ready(TypedDict):
    """What a warmed worker says of itself."""

    context: BenchmarkContext
    inputs: Any
    first_call_seconds: float
    is_serial: bool
    """Whether one thread alone did the work of the warm-up, so that one core is all it can use."""


class Answer(TypedDict, total=False):
    """One line from a worker: exactly one of these."""

    ready: Ready
    call_seconds: float
    seconds: float
    peak: dict[str, Any]
    outputs: None
    rss_bytes: int
    instructions: list[int]
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkJob:
    """One target to be timed. A side is None where it does not have the target; each spec holds that target alone."""

    id: str
    base: WorkerSpec | None
    head: WorkerSpec
    benchmark: Benchmark
    needs_control: bool
    """Whether base must also run against itself: a limit depends on the clock."""
    budget_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """How a pair is cut: blocks a side, measured calls a block, and what a side takes in all."""

    blocks: int
    calls: int
    side_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRound:
    """One round to run: base and head, or base twice; and in which order their blocks come."""

    kind: Kind
    order: str


def benchmark_jobs(plan: Plan, specs: Sequence[WorkerSpec], *, failed: Container[str] = ()) -> list[BenchmarkJob]:
    """Pick the targets that base (or head, where they are new) wants timed, with the budget split evenly among them.

    Targets that failed before are left out, and so is a side that the plan does not measure.
    """
    by_side = {spec["side"]: spec for spec in specs}
    limits = plan.base_config.limits if plan.base_config else ()
    wanted = [
        item
        for item in plan.targets
        if item.policy.benchmark is not None and item.head is not None and not item.skipped and item.id not in failed
    ]
    timed = [item for item in wanted if item.base and item.policy.benchmark and is_timed(item.policy.benchmark)]
    gated = bool(gated_timings([item.base for item in timed if item.base], limits))
    budget = plan.policy.max_seconds
    jobs = []
    for item in wanted:
        head = _alone(by_side.get("head"), item.id)
        if head is None or item.policy.benchmark is None:
            continue
        jobs.append(
            BenchmarkJob(
                id=item.id,
                base=_alone(by_side.get("base"), item.id),
                head=head,
                benchmark=item.policy.benchmark,
                needs_control=gated and item in timed,
                budget_seconds=None if budget is None else budget / len(wanted),
            )
        )
    return jobs


def is_timed(benchmark: Benchmark) -> bool:
    """Whether a benchmark asks for anything that a clock measures."""
    return any(name in benchmark.metrics for name in TIMED)


def _alone(spec: WorkerSpec | None, identity: str) -> WorkerSpec | None:
    targets = [target for target in spec["targets"] if target["id"] == identity] if spec else []
    return {**spec, "targets": targets} if spec and targets else None


def plan_blocks(call_seconds: float) -> BlockPlan:
    """Cut the pairs of a target whose slower side takes that long for one call.

    Each block runs one call more than it measures. Slow calls get fewer blocks, and never fewer than a median needs.
    """
    calls = max(1, round(BLOCK_SECONDS / call_seconds))
    block_seconds = (calls + 1) * call_seconds
    blocks = min(MOST_BLOCKS, max(FEWEST_BLOCKS, int(SIDE_SECONDS / block_seconds)))
    return BlockPlan(blocks=blocks, calls=calls, side_seconds=blocks * block_seconds)


def draw_rounds(seed: int, identity: str, *, pairs: int, controls: int, blocks: int) -> list[DrawnRound]:
    """Mix pairs and controls, and let either side of each kind start equally often. The same seed draws the same."""
    rng = random.Random(f"{seed}:{identity}")  # noqa: S311 # a schedule, no secret
    drawn: list[DrawnRound] = []
    counts: tuple[tuple[Kind, int], ...] = (("pair", pairs), ("control", controls))
    for kind, count in counts:
        starts = [index % 2 == 0 for index in range(count)]
        rng.shuffle(starts)
        drawn += [DrawnRound(kind=kind, order=block_order(blocks, starts_with_a=start)) for start in starts]
    rng.shuffle(drawn)
    return drawn


def control_share(missing: int, targets_left: int) -> int:
    """Give how many of the run's missing controls the next target takes: what others failed to give, later ones do."""
    return ceil(missing / targets_left) if targets_left else 0


def affordable_pairs(wanted: int, controls: int, *, round_seconds: float, budget_seconds: float | None) -> int:
    """Cut the pairs to a budget by what one round is expected to take. Decided before the first is measured.

    The controls are not cut: without them no pair could be believed.
    """
    if budget_seconds is None:
        return wanted
    return max(0, min(wanted, int(budget_seconds / round_seconds) - controls))
