"""The JSON that crosses between the orchestrator and the worker. Standard library only: the worker imports this too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from torchscan.report.analysis import AnalysisReport
from torchscan.report.benchmark import BenchmarkReport

SPEC_VERSION = 1
BEGUN, RESULT = "begun", "result.json"
"""What a target's process leaves in its own folder: that it has begun, and its result."""

Side = Literal["base", "head"]
Analysis = Literal["full", "structure", "off"]
Stage = Literal["environment", "load", "build", "forward", "analyse", "benchmark", "isolation", "worker"]


class TargetSpec(TypedDict):
    """One target as one side builds it. ``index`` is its place in the plan."""

    index: int
    id: str
    factory: str
    analysis: Analysis
    device: str


class WorkerSpec(TypedDict):
    """The targets of one side, in order. Each is measured in a process of its own."""

    version: int
    side: Side
    root: str
    """The side's worktree, joined with the working directory: factories and import paths resolve under it."""
    worktree: str
    checkout: str
    """The workspace that the worktree was made from: a module loaded from there is an isolation error."""
    import_paths: list[str]
    out: str
    """The folder for the result, where the process is started for a single target."""
    seed: int
    threads: int | None
    targets: list[TargetSpec]


class Failure(TypedDict):
    """Why a target has no report: stage, exception class name, message, and frames of the user's own files."""

    stage: Stage
    type: str
    message: str
    frames: list[str]
    calls_done: NotRequired[int]


class TargetResult(TypedDict):
    """What one side says of one target. Exactly one of ``report`` and ``failure`` is set unless analysis is off."""

    version: int
    id: str
    side: Side
    report: AnalysisReport | None
    benchmark: NotRequired[BenchmarkReport | None]
    failure: Failure | None
    seconds: float


def a_failure(stage: Stage, kind: str, message: str, frames: Sequence[str] = ()) -> Failure:
    """Return a failure that no exception of the measured code describes."""
    return {"stage": stage, "type": kind, "message": message, "frames": list(frames)}


def failed_result(target_id: str, side: Side, failure: Failure, seconds: float = 0.0) -> TargetResult:
    """Return the result of a target that has no report."""
    return {
        "version": SPEC_VERSION,
        "id": target_id,
        "side": side,
        "report": None,
        "failure": failure,
        "seconds": seconds,
    }
