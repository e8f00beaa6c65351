from __future__ import annotations

from typing import Any

import pytest
from support.verdicts import config, limit, plan, target

from ci_action.core.config.entries import Benchmark
from ci_action.core.planning import target_specs
from ci_action.core.spec import WorkerSpec
from ci_action.core.timing.lockstep import affordable_pairs, benchmark_jobs, control_share, draw_rounds, plan_blocks

LATENCY = limit("latency", max_increase=0.05)


def test_the_same_seed_draws_the_same_rounds_and_another_does_not() -> None:
    drawn = draw_rounds(7, "net", pairs=10, controls=8, blocks=10)
    assert drawn == draw_rounds(7, "net", pairs=10, controls=8, blocks=10)
    assert drawn != draw_rounds(8, "net", pairs=10, controls=8, blocks=10)
    assert drawn != draw_rounds(7, "other", pairs=10, controls=8, blocks=10)


@pytest.mark.parametrize("seed", range(20))
def test_either_side_of_each_kind_starts_equally_often(seed: int) -> None:
    drawn = draw_rounds(seed, "net", pairs=10, controls=8, blocks=10)
    for kind, count in (("pair", 10), ("control", 8)):
        starts = [item.order[0] for item in drawn if item.kind == kind]
        assert (len(starts), starts.count("A")) == (count, count // 2)


def test_pairs_and_controls_are_mixed() -> None:
    kinds = [[item.kind for item in draw_rounds(seed, "net", pairs=10, controls=8, blocks=10)] for seed in range(20)]
    assert not any(order[:10] == ["pair"] * 10 for order in kinds)


@pytest.mark.parametrize(("targets", "shares"), [(1, [8]), (2, [4, 4]), (3, [3, 3, 2]), (10, [1] * 8 + [0, 0])])
def test_controls_are_shared_so_that_a_run_has_eight(targets: int, shares: list[int]) -> None:
    missing, found = 8, []
    for left in range(targets, 0, -1):
        found.append(control_share(missing, left))
        missing -= found[-1]
    assert found == shares


def test_what_a_failed_target_did_not_give_the_next_ones_do() -> None:
    assert control_share(8, 2) == 4
    assert control_share(8, 1) == 8  # after a first target that failed


@pytest.mark.parametrize(("budget", "pairs"), [(None, 10), (100.0, 10), (30.0, 7), (16.0, 0), (1.0, 0)])
def test_a_budget_cuts_pairs_and_never_controls(budget: float | None, pairs: int) -> None:
    # 2 s a round: 30 s are 15 rounds, 8 of them controls
    assert affordable_pairs(10, 8, round_seconds=2.0, budget_seconds=budget) == pairs


@pytest.mark.parametrize(
    ("call_seconds", "calls", "blocks"),
    [
        (1e-6, 5000, 60),  # 5 ms blocks; more than 60 would fit into 0.4 s
        (0.0024, 2, 55),  # 2 measured calls and 1 more: 7.2 ms
        (0.005, 1, 40),
        (0.1, 1, 10),  # 0.2 s a block, so 0.4 s would hold 2: a median needs more
    ],
)
def test_pairs_are_cut_by_what_a_call_takes(call_seconds: float, calls: int, blocks: int) -> None:
    cut = plan_blocks(call_seconds)
    assert (cut.calls, cut.blocks) == (calls, blocks)
    assert cut.side_seconds == pytest.approx(blocks * (calls + 1) * call_seconds)


def jobs(*limits: Any, targets: Any = None, **fields: Any) -> Any:
    entries = targets or [target("a", benchmark=Benchmark()), target("b"), target("c", benchmark=Benchmark())]
    judged = plan(config(*entries, limits=limits, **fields))
    specs: list[WorkerSpec] = [
        {"side": side, "seed": 0, "targets": target_specs(judged, side)}  # type: ignore[typeddict-item]
        for side in ("base", "head")
    ]
    return benchmark_jobs(judged, specs, failed={"broken"})


def test_each_benchmarked_target_is_a_job_of_its_own() -> None:
    first, second = jobs(LATENCY)
    assert (first.id, second.id) == ("a", "c")
    assert [item["id"] for item in first.head["targets"]] == ["a"]
    assert first.needs_control


def test_nothing_gated_needs_no_control() -> None:
    assert [job.needs_control for job in jobs()] == [False, False]


def test_the_budget_is_split_evenly() -> None:
    assert [job.budget_seconds for job in jobs(LATENCY, max_seconds=60.0)] == [30.0, 30.0]


def test_a_target_that_could_not_be_analysed_is_not_timed() -> None:
    assert jobs(targets=[target("broken", benchmark=Benchmark())]) == []


def test_memory_alone_needs_no_control() -> None:
    (job,) = jobs(LATENCY, targets=[target("a", benchmark=Benchmark(metrics=("peak_memory",)))])
    assert not job.needs_control
