"""What the orchestrator tells its workers, in which order: on stand-ins that answer at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.benchmarks import CONTEXT, TENSOR

from ci_action.core.config.entries import Benchmark
from ci_action.core.timing.lockstep import FEWEST_BLOCKS, BenchmarkJob
from ci_action.core.timing.rounds import log_ratios
from ci_action.edges.workers import lockstep
from ci_action.edges.workers.lockstep import time_targets
from ci_action.edges.workers.lockstep_worker import WorkerFailed
from ci_action.edges.workers.place import ChildLimits

PEAK = {"device": "cpu", "metric": "pytorch_tensor_bytes", "baseline_bytes": 1, "peak_bytes": 2, "delta_bytes": 1}


@dataclass
class FakeWorker:
    """Answers each command from a table; ``fails`` is asked before every block."""

    side: Any
    identity: str
    log: list[str]
    fails: Callable[[str, str], bool]
    seconds: float
    is_ended: bool = False

    def ready(self) -> Any:
        return {"context": dict(CONTEXT), "inputs": TENSOR, "first_call_seconds": 0.1, "is_serial": True}

    def is_serial(self) -> bool:
        return True

    def hold_on(self, core: int) -> None:
        self.log.append(f"{self.identity} {self.side} core {core}")

    def ask(self, command: Any) -> Any:
        self.log.append(f"{self.identity} {self.side} {command['do']}")
        if command["do"] == "block" and self.fails(self.identity, self.side):
            raise WorkerFailed(self.side, {"stage": "benchmark", "type": "X", "message": "x", "frames": []})
        answers = {"calibrate": {"call_seconds": 0.02}, "block": {"seconds": self.seconds}, "peak": {"peak": PEAK}}
        return {**answers, "rss": {"rss_bytes": 5}, "outputs": {"outputs": None}}[command["do"]]

    def resident_bytes(self) -> int:
        return 1

    def output(self) -> str:
        return ""

    def discard(self) -> None:
        """It has no folder."""

    def stop(self) -> None:
        self.is_ended = True


@dataclass
class FakePlace:
    scratch: Path
    fails: Callable[[str, str], bool] = lambda _identity, _side: False
    limits: ChildLimits = field(default_factory=ChildLimits)
    on_output: None = None
    log: list[str] = field(default_factory=list)
    workers: list[FakeWorker] = field(default_factory=list)
    most_alive: int = 0

    def start(self, spec: Any) -> Any:
        seconds = {"base": 0.02, "head": 0.03}[spec["side"]]
        worker = FakeWorker(spec["side"], spec["targets"][0]["id"], self.log, self.fails, seconds)
        self.workers.append(worker)
        self.most_alive = max(self.most_alive, sum(not item.is_ended for item in self.workers))
        return worker


def job(identity: str, *, needs_control: bool = True, budget: float | None = None, **benchmark: Any) -> BenchmarkJob:
    base, head = ({"side": side, "seed": 0, "targets": [{"id": identity}]} for side in ("base", "head"))
    return BenchmarkJob(
        id=identity,
        base=base,  # type: ignore[arg-type] # what a stand-in reads of a spec
        head=head,  # type: ignore[arg-type]
        benchmark=Benchmark(**benchmark),
        needs_control=needs_control,
        budget_seconds=budget,
    )


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "start_worker", lambda place, spec: place.start(spec))


def timed(place: FakePlace, *jobs: BenchmarkJob) -> Any:
    return time_targets(jobs, place, lambda _line: None)  # type: ignore[arg-type] # a stand-in


def controls(found: Any) -> dict[str, int]:
    return {identity: len(log_ratios(item["rounds"], "control")) for identity, item in found.items()}


def test_two_workers_are_alive_and_all_are_ended(tmp_path: Path) -> None:
    place = FakePlace(tmp_path)
    found = timed(place, job("a"))["a"]
    assert place.most_alive == 2
    assert all(worker.is_ended for worker in place.workers)
    assert len(log_ratios(found["rounds"], "pair")) == 10
    assert len(place.workers) == 2 + 2 * (10 + 8)


def test_blocks_come_in_the_drawn_order(tmp_path: Path) -> None:
    place = FakePlace(tmp_path)
    found = timed(place, job("a", needs_control=False, pairs=2))["a"]
    told = [line.split()[1] for line in place.log if line.endswith("block")]
    drawn = "".join(item["order"] for item in found["rounds"])
    assert told == [{"A": "base", "B": "head"}[letter] for letter in drawn]
    assert {item["order"][0] for item in found["rounds"]} == {"A", "B"}


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux alone holds a process on a core")
def test_both_sides_of_a_pair_are_held_on_one_core_before_their_blocks(tmp_path: Path) -> None:
    place = FakePlace(tmp_path)
    timed(place, job("a", needs_control=False, pairs=2))
    told = [line.split(maxsplit=2)[2] for line in place.log if "core" in line or line.endswith("block")]
    pairs = [told.index("block"), len(told) // 2 + told[len(told) // 2 :].index("block")]
    assert [told[at - 2] for at in pairs] == [told[at - 1] for at in pairs]
    assert all(told[at - 1].startswith("core ") for at in pairs)


def test_a_run_has_eight_controls_however_many_targets(tmp_path: Path) -> None:
    assert controls(timed(FakePlace(tmp_path), job("a"))) == {"a": 8}
    assert controls(timed(FakePlace(tmp_path), *map(job, "abc"))) == {"a": 3, "b": 3, "c": 2}
    assert controls(timed(FakePlace(tmp_path), job("a", needs_control=False))) == {"a": 0}


@pytest.mark.parametrize(("broken", "shares"), [("a", {"a": 0, "b": 8}), ("b", {"a": 8, "b": 0})])
def test_a_failed_target_does_not_cost_the_run_its_control(tmp_path: Path, broken: str, shares: dict[str, int]) -> None:
    # given one target whose head fails in every block, so that its rounds end at the first pair
    place = FakePlace(tmp_path, fails=lambda identity, _side: identity == broken)
    found = timed(place, job("a"), job("b"))
    assert found[broken]["failure"]["failure"]["type"] == "X"
    assert controls(found) == shares


def test_a_budget_cuts_pairs_before_the_first_is_timed(tmp_path: Path) -> None:
    # given stand-ins that are ready at once: a round is 2 x 10 blocks of two 20 ms calls, 0.8 s; 10 s are 12 rounds
    found = timed(FakePlace(tmp_path), job("a", budget=10.0))["a"]
    assert found["planned_pairs"] == 4
    assert len(log_ratios(found["rounds"], "pair")) == 4
    assert "max-seconds leaves room for 4 of 10 pairs" in found["notes"][0]


def test_one_after_the_other_where_both_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "available_bytes", lambda: -1)
    place = FakePlace(tmp_path)
    found = timed(place, job("a", pairs=4, needs_control=False))["a"]
    assert (found["mode"], place.most_alive) == ("alternating", 1)
    halves = "A" * FEWEST_BLOCKS, "B" * FEWEST_BLOCKS
    assert {item["order"] for item in found["rounds"]} == {"".join(halves), "".join(reversed(halves))}


def test_memory_alone_starts_no_clock(tmp_path: Path) -> None:
    place = FakePlace(tmp_path)
    found = timed(place, job("a", metrics=("peak_memory", "process_peak_rss"), needs_control=False))["a"]
    assert found["rounds"] == []
    assert found["head"]["memory"] == [PEAK, PEAK]
    assert found["base"]["rss_bytes"] == [5, 5, 5]
    assert not [line for line in place.log if line.endswith("block")]


def test_an_answer_that_no_clock_can_give_costs_the_target_alone(tmp_path: Path) -> None:
    place = FakePlace(tmp_path)
    start = place.start

    def lying(spec: Any) -> Any:
        worker = start(spec)
        worker.seconds = -1.0 if spec["side"] == "head" and worker.identity == "a" else worker.seconds
        return worker

    place.start = lying  # type: ignore[method-assign]
    found = timed(place, job("a"), job("b"))
    assert found["a"]["failure"]["failure"]["type"] == "MalformedResult"
    assert found["b"]["failure"] is None
    assert controls(found) == {"a": 0, "b": 8}
