"""Times targets in lockstep pairs: fresh workers of both sides, alive at once, running short blocks in turn.

Nothing but the worker whose turn it is does any work: the others wait on their pipes, and so does the orchestrator.
The next pair starts once a pair has ended: two processes that import torch meanwhile more than doubled its scatter and
what a call took on two cores (tests/bench/README.md).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, cast

from ci_action.core.spec import a_failure
from ci_action.core.timing.evidence import EVIDENCE_VERSION
from ci_action.core.timing.evidence_file import read_evidence
from ci_action.core.timing.lockstep import (
    RSS_CHILDREN,
    BenchmarkJob,
    BlockPlan,
    DrawnRound,
    affordable_pairs,
    control_share,
    draw_rounds,
    is_timed,
    plan_blocks,
)
from ci_action.core.timing.noise import CONTROL_PAIRS
from ci_action.core.timing.rounds import log_ratios
from ci_action.edges.workers.instructions import count_instructions
from ci_action.edges.workers.lockstep_worker import WorkerFailed, start_worker
from ci_action.edges.workers.machine import MachineWatch, available_bytes
from ci_action.edges.workers.output_check import SKIPPED, check_outputs
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ci_action.core.spec import Side, WorkerSpec
    from ci_action.core.timing.evidence import BenchmarkEvidence, BenchmarkFailure, Mode, SideEvidence
    from ci_action.core.timing.rounds import Kind, Round
    from ci_action.edges.workers.lockstep_worker import LockstepWorker
    from ci_action.edges.workers.orphans import Orphans
    from ci_action.edges.workers.place import WorkerPlace
    from torchscan.report.benchmark import PeakMemory

SPARE_SHARE = 0.8
"""How much of the free memory two workers may take before they run one after the other."""


def time_targets(
    jobs: Sequence[BenchmarkJob],
    place: WorkerPlace,
    on_progress: Callable[[str], None],
    on_evidence: Callable[[BenchmarkEvidence], None] = lambda _evidence: None,
    orphans: Orphans | None = None,
) -> dict[str, BenchmarkEvidence]:
    """Time each target in turn. One target's failure is in its evidence and stops no other.

    The controls of base against itself are shared out, so that the run has enough; what is missing in the end, because
    a target failed with its share, is made up for by those that did not. ``on_evidence`` gets each target's evidence as
    it ends, and once more if controls were added to it.
    """
    found: dict[str, BenchmarkEvidence] = {}
    missing, timings = CONTROL_PAIRS, []
    gated = [job.id for job in jobs if job.needs_control]
    for job in jobs:
        share = control_share(missing, len(gated) - gated.index(job.id)) if job.needs_control else 0
        timings.append(_Timing(job, place, on_progress, share))
        found[job.id] = timings[-1].evidence()
        on_evidence(found[job.id])
        if orphans:
            orphans.end()  # of no worker that is alive: the next target's have not been started
        missing -= len(log_ratios(found[job.id]["rounds"], "control"))
    for timing in timings:
        if missing > 0 and timing.job.needs_control and found[timing.job.id]["failure"] is None:
            missing -= timing.add_controls(missing, found[timing.job.id])
            on_evidence(found[timing.job.id])
    return found


def _whole(found: BenchmarkEvidence) -> BenchmarkEvidence:
    """Return the evidence if it is sound. Otherwise it loses its rounds and the side that cannot be read."""
    try:
        return read_evidence(found)
    except EvidenceError as error:
        side: Side = "head" if _is_sound({**found, "rounds": [], "head": None}) else "base"
        failure = a_failure("worker", "MalformedResult", str(error))
        failed: BenchmarkFailure = {"side": side, "round": 0, "failure": failure}
        other: BenchmarkEvidence = {**found, "rounds": [], "failure": failed}
        other[side] = None
        return other if _is_sound(other) else {**other, "base": None, "head": None}


def _is_sound(found: BenchmarkEvidence) -> bool:
    with suppress(EvidenceError):
        read_evidence(found)
        return True
    return False


@dataclass
class _Timing:
    """One target on its way to evidence."""

    job: BenchmarkJob
    place: WorkerPlace
    on_progress: Callable[[str], None]
    controls: int
    mode: Mode = "lockstep"
    round_number: int = 0
    call_seconds: float = 0.0
    round_seconds: float = 0.0
    sides: dict[Side, SideEvidence] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)

    def evidence(self) -> BenchmarkEvidence:
        """Probe both sides, check their outputs, run the rounds; a failure ends the target with what there is."""
        base, head = self.job.base, self.job.head
        found: BenchmarkEvidence = {
            "version": EVIDENCE_VERSION,
            "id": self.job.id,
            "seed": head["seed"],
            "mode": self.mode,
            "planned_pairs": 0,
            "rounds": self.rounds,
            "base": None,
            "head": None,
            "output_check": SKIPPED,
            "machine": [],
            "failure": None,
            "notes": [],
        }
        self.place.scratch.mkdir(parents=True, exist_ok=True)  # measured code may have removed it
        folder = Path(tempfile.mkdtemp(prefix="outputs-", dir=self.place.scratch))
        try:
            self._probe_all([spec for spec in (base, head) if spec], folder, found["notes"])
            if base is not None:
                check = self.job.benchmark.output_check
                found["output_check"] = check_outputs(check, base, folder, self.place)
            found["mode"] = self.mode
            found["planned_pairs"] = pairs = self._pairs(found["notes"])
            self._run(self._drawn(found, pairs=pairs, controls=self.controls if pairs else 0), found)
            self._count(found["notes"])
        except WorkerFailed as failed:
            found["failure"] = {"side": failed.side, "round": self.round_number, "failure": failed.failure}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        found["base"], found["head"] = self.sides.get("base"), self.sides.get("head")
        return _whole(found)

    def _probe_all(self, specs: Sequence[WorkerSpec], folder: Path, notes: list[str]) -> None:
        """Probe every side, also where another one has failed: what a side is alone does not depend on it."""
        failures: list[WorkerFailed] = []
        for spec in specs:
            try:
                self._probe(spec, folder / spec["side"])
            except WorkerFailed as failed:
                failures.append(failed)
        notes += [f"{item.side} failed as well: {item.failure['type']}: {item}" for item in failures[1:]]
        if failures:
            raise failures[0]

    def _probe(self, spec: WorkerSpec, outputs: Path) -> None:
        """Run what needs no clock in a worker of its own: the tensor peak twice, the outputs, a block's calls."""
        began = monotonic()
        worker = start_worker(self.place, spec)
        try:
            ready = worker.ready()
            self.sides[spec["side"]] = {
                "context": ready["context"],
                "inputs": ready["inputs"],
                "first_call_seconds": [],
                "memory": [],
                "rss_bytes": [],
            }
            self.round_seconds = max(self.round_seconds, monotonic() - began)
            # The slower side decides: the blocks of one that became far slower must not take minutes.
            self.call_seconds = max(self.call_seconds, worker.ask({"do": "calibrate"})["call_seconds"])
            if "peak_memory" in self.job.benchmark.metrics:
                for _ in range(2):  # each counts as soon as it is there
                    peak = cast("PeakMemory", worker.ask({"do": "peak"})["peak"])
                    self.sides[spec["side"]]["memory"].append(peak)
            if not self.job.benchmark.output_check.is_skipped:
                worker.ask({"do": "outputs", "folder": str(outputs)})
            if 2 * worker.resident_bytes() > SPARE_SHARE * (available_bytes() + worker.resident_bytes()):
                self.mode = "alternating"
        finally:
            self._end(worker, is_shown=True)

    def _count(self, notes: list[str]) -> None:
        """Count instructions last: nothing that a clock measured can have felt it."""
        if "instructions" not in self.job.benchmark.metrics:
            return
        self.on_progress(f"{self.job.id}: counting instructions")
        specs = [spec for spec in (self.job.base, self.job.head) if spec]
        found = count_instructions(specs, self.place, notes, together=self.mode == "lockstep")
        for side, counts in found.items():
            self.sides[side]["instructions"] = counts

    def _pairs(self, notes: list[str]) -> int:
        """Decide how many pairs run, before the first of them."""
        benchmark = self.job.benchmark
        if not is_timed(benchmark):
            return RSS_CHILDREN if "process_peak_rss" in benchmark.metrics else 0
        if self.job.base is None:
            return RSS_CHILDREN  # head against itself: its own numbers are all there is to say
        wanted, controls = benchmark.pairs, self.controls
        round_seconds = 1.2 * self.round_seconds + 2 * self.cut.side_seconds
        pairs = affordable_pairs(wanted, controls, round_seconds=round_seconds, budget_seconds=self.job.budget_seconds)
        if pairs < wanted:
            notes.append(
                f"max-seconds leaves room for {pairs} of {wanted} pairs of about {round_seconds:.1f} s; "
                "this was decided before anything was timed"
            )
        return pairs

    def add_controls(self, count: int, found: BenchmarkEvidence) -> int:
        """Run base against itself some more times; give how often that worked. A failure here spoils nothing."""
        before = len(found["rounds"])
        with suppress(WorkerFailed):
            self._run(self._drawn(found, pairs=0, controls=count), found)
        return len(found["rounds"]) - before

    @property
    def cut(self) -> BlockPlan:
        """How its pairs are cut into blocks."""
        return plan_blocks(self.call_seconds)

    def _drawn(self, found: BenchmarkEvidence, *, pairs: int, controls: int) -> list[DrawnRound]:
        return draw_rounds(found["seed"], self.job.id, pairs=pairs, controls=controls, blocks=self.cut.blocks)

    def _run(self, drawn: Sequence[DrawnRound], found: BenchmarkEvidence) -> None:
        first, second = self.job.base or self.job.head, self.job.head
        machine = MachineWatch()
        for number, planned in enumerate(drawn, start=1):
            self.round_number = number
            self.on_progress(f"{self.job.id}: {planned.kind} {number} of {len(drawn)}")
            specs = {"A": first, "B": first if planned.kind == "control" else second}
            if is_timed(self.job.benchmark):
                self._timed_round(planned, specs)
            else:
                for letter in planned.order[:2]:
                    self._untimed_child(specs[letter])
            found["machine"].append(machine.state())

    def _timed_round(self, planned: DrawnRound, specs: Mapping[str, WorkerSpec]) -> None:
        """Run one round's blocks, and keep it once both sides have all of theirs.

        Alternating rounds keep the drawn side first, with all of its blocks.
        """
        starts = planned.order[0]
        halves = ["AB"] if self.mode == "lockstep" else [starts, "AB".replace(starts, "")]
        order = planned.order if self.mode == "lockstep" else "".join(half * self.cut.blocks for half in halves)
        seconds: dict[str, list[float]] = {"A": [], "B": []}
        for half in halves:
            workers: dict[str, LockstepWorker] = {}
            try:
                for letter in half:  # one by one: those that started are ended
                    workers[letter] = start_worker(self.place, specs[letter])
                first_calls = {letter: worker.ready()["first_call_seconds"] for letter, worker in workers.items()}
                self._share_a_core(workers.values())
                for letter in (letter for letter in order if letter in half):
                    answer = workers[letter].ask({"do": "block", "calls": self.cut.calls})
                    seconds[letter].append(answer["seconds"])
                if half == halves[-1]:
                    self.rounds.append(self._round(planned.kind, order, seconds))
                if planned.kind == "pair":
                    for letter, worker in workers.items():
                        side = self.sides[specs[letter]["side"]]
                        side["first_call_seconds"].append(first_calls[letter])
                        side["rss_bytes"].append(worker.ask({"do": "rss"})["rss_bytes"])
            finally:
                for worker in workers.values():
                    self._end(worker)

    def _round(self, kind: Kind, order: str, seconds: Mapping[str, list[float]]) -> Round:
        return {
            "kind": kind,
            "order": order,
            "calls_per_block": self.cut.calls,
            "a_seconds": seconds["A"],
            "b_seconds": seconds["B"],
        }

    def _share_a_core(self, workers: Collection[LockstepWorker]) -> None:
        """Keep both sides on one core where neither can use two: cores differ, by what their neighbours do.

        Measured with equal code on two cores that 2 to 5 processes wanted: half of the pairs were off by more than 1.6%
        on any core (56 pairs) and by more than 0.5% on the same one (54); 10 and 1 of them by more than 5%. Where nine
        processes wanted the two cores it made no difference (8 pairs each, half off by 3.3%).
        """
        if len(workers) < 2 or not hasattr(os, "sched_getaffinity"):
            return
        if all(worker.is_serial() for worker in workers):
            cores = sorted(os.sched_getaffinity(0))
            for worker in workers:
                worker.hold_on(cores[self.round_number % len(cores)])

    def _untimed_child(self, spec: WorkerSpec) -> None:
        worker = start_worker(self.place, spec)
        try:
            ready = worker.ready()
            self.sides[spec["side"]]["first_call_seconds"].append(ready["first_call_seconds"])
            self.sides[spec["side"]]["rss_bytes"].append(worker.ask({"do": "rss"})["rss_bytes"])
        finally:
            self._end(worker)

    def _end(self, worker: LockstepWorker, *, is_shown: bool = False) -> None:
        worker.stop()
        if is_shown and self.place.on_output:
            self.place.on_output(worker.side, worker.output())
        worker.discard()
