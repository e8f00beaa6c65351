"""What a target's benchmark left behind, as JSON: everything that its verdict rests on, so that anyone can redo it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from ci_action.core.spec import Failure, Side
from ci_action.core.timing.instructions import InstructionCounts
from ci_action.core.timing.rounds import Round
from torchscan.report.benchmark import BenchmarkContext, PeakMemory

KILLED, TREE_CHANGED = "WorkerKilled", "TreeChanged"
"""Failures of base that head's code may have brought about, which runs at the same time as the same user."""
EVIDENCE_VERSION = 1

Mode = Literal["lockstep", "alternating"]
"""Whether both processes of a pair were alive at once, or one after the other for want of room."""


class SideEvidence(TypedDict):
    """What the processes of one side said of themselves."""

    context: BenchmarkContext
    inputs: Any
    first_call_seconds: list[float]
    memory: list[PeakMemory]
    rss_bytes: list[int]
    instructions: NotRequired[InstructionCounts]
    """Absent where nobody asked for them."""


class OutputVerdict(TypedDict):
    """How both sides' outputs were held against each other, and what came out. ``message`` is our own sentence."""

    method: Literal["skip", "tolerances", "callable"]
    verdict: Literal["passed", "failed", "not_run"]
    message: str


class MachineState(TypedDict):
    """The machine while a pair ran: one-minute load, share of stolen processor time, clock of the processors."""

    load: float | None
    steal_share: float | None
    frequency_hertz: float | None


class BenchmarkFailure(TypedDict):
    """Which process failed, in which round (counted from 1), and why."""

    side: Side
    round: int
    failure: Failure


class BenchmarkEvidence(TypedDict):
    """One target's benchmark on both sides. ``rounds`` stand in the order in which they ran, drawn from ``seed``."""

    version: int
    id: str
    seed: int
    mode: Mode
    planned_pairs: int
    rounds: list[Round]
    base: SideEvidence | None
    head: SideEvidence | None
    output_check: OutputVerdict
    machine: list[MachineState]
    failure: BenchmarkFailure | None
    notes: list[str]
