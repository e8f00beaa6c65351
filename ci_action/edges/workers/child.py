"""The Measurer port: workers as child processes, results as files, every death with its cause."""

from __future__ import annotations

import os
import select
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import ci_action
import torchscan
from ci_action.core.spec import a_failure, failed_result
from ci_action.edges.workers.environment import worker_environment
from ci_action.edges.workers.lockstep import time_targets
from ci_action.edges.workers.orphans import no_orphans
from ci_action.edges.workers.place import ChildLimits, Interpreter, WorkerPlace
from ci_action.edges.workers.side_environment import make_environment
from ci_action.edges.workers.side_run import SideRun
from ci_action.edges.workers.tree import TreeGuard
from ci_action.edges.workers.watch import shown_output
from ci_action.errors import MeasurementError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ci_action.core.spec import Side, TargetResult, WorkerSpec
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.core.timing.lockstep import BenchmarkJob
    from ci_action.edges.workers.orphans import Orphans

POLL_SECONDS = 0.02
HEARTBEAT_SECONDS = 60.0


class ChildMeasurer:
    """Runs each spec in the owner's interpreter. ``scratch`` takes specs, results and captured output.

    ``on_result`` and ``on_benchmark`` get what was measured as it comes; ``on_output`` gets what a side
    printed, once it is done.
    """

    def __init__(
        self,
        *,
        python: str,
        scratch: Path,
        environ: Mapping[str, str],
        pass_env: Sequence[str] = (),
        limits: ChildLimits | None = None,
        install: Mapping[Side, Sequence[str]] | None = None,
        on_result: Callable[[TargetResult], None] | None = None,
        on_benchmark: Callable[[BenchmarkEvidence], None] | None = None,
        on_output: Callable[[str, str], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        self._scratch = scratch
        self._install = install or {}
        self._limits = limits or ChildLimits()
        self._packages = _own_packages(scratch / "packages")
        self._guards: dict[Side, TreeGuard] = {}
        environment = worker_environment(environ, pass_env, str(self._packages))
        shared = Interpreter(python=_interpreter(python), environment=environment)
        self._interpreters: dict[Side, Interpreter] = {"base": shared, "head": shared}
        self._on_result = on_result or _ignore
        self._on_benchmark = on_benchmark or _ignore
        self._on_output = on_output
        self._say = on_progress or _ignore

    def measure(self, specs: Sequence[WorkerSpec], *, parallel: bool) -> list[list[TargetResult]]:
        """Measure the sides in their order: no code of one runs before all results of the one before are read.

        ``parallel``: their processes start at once and import torch side by side, while no code of a repository runs.

        Raises MeasurementError where the interpreter itself cannot measure, on every side.
        """
        groups = [specs] if parallel else [[spec] for spec in specs]
        with no_orphans() as orphans:
            measured = [results for group in groups for results in self._together(group, orphans)]
        _refuse_broken_interpreter([result for results in measured for result in results])
        return measured

    def benchmark(self, jobs: Sequence[BenchmarkJob]) -> dict[str, BenchmarkEvidence]:
        """Time each job's target in lockstep pairs. A target's failure is in its evidence.

        Workers are spoken to over inherited descriptors, which Windows does not have: nothing is timed there.
        """
        if os.name != "posix":
            return {}
        place = WorkerPlace(
            interpreters=self._interpreters,
            scratch=self._scratch,
            limits=self._limits,
            on_output=self._on_output,
            guards=self._guards,
        )
        with no_orphans() as orphans:
            return time_targets(jobs, place, self._say, self._on_benchmark, orphans)

    def _together(self, specs: Sequence[WorkerSpec], orphans: Orphans) -> list[list[TargetResult]]:
        broken = {spec["side"]: why for spec in specs if (why := self._prepare(spec))}
        sides: dict[Side, SideRun] = {}

        def end_orphans() -> None:
            orphans.end(keep=[pid for side in sides.values() for pid in side.pids])

        for spec in specs:
            if spec["side"] not in broken:
                before = list(sides.values())
                sides[spec["side"]] = self._side(spec, end_orphans, before)
        self._run(list(sides.values()))
        return [
            sides[spec["side"]].results() if spec["side"] in sides else self._uninstalled(spec, broken[spec["side"]])
            for spec in specs
        ]

    def _run(self, sides: list[SideRun]) -> None:
        try:
            running, said = sides, time.monotonic()
            while running:
                running = [side for side in running if not side.is_done_after_step()]
                if time.monotonic() - said > HEARTBEAT_SECONDS:
                    said = time.monotonic()
                    busy = [f"{side.name} {side.in_progress}" for side in running if side.in_progress]
                    self._say(f"still measuring {', '.join(busy)}" if busy else "still measuring")
                if running:
                    _wait_for_any([fileno for side in running for fileno in side.filenos])
        finally:
            for side in sides:
                side.stop()
        if self._on_output:
            for side in sides:
                self._on_output(side.name, side.output())

    def _prepare(self, spec: WorkerSpec) -> str:
        """Make the side's own environment where the owner wants one; of a fork, head's after base is measured.

        Gives what went wrong, or nothing.
        """
        side = spec["side"]
        install = self._install.get(side)
        if not install:
            return ""
        self._say(f"{side}: {' '.join(install)}")
        folder = Path(tempfile.mkdtemp(prefix=f"environment-{side}-", dir=self._scratch))
        try:
            self._interpreters[side] = make_environment(spec, install, self._interpreters[side], folder)
        except MeasurementError as error:
            return str(error)
        finally:
            if self._on_output:
                self._on_output(f"install of {side}", shown_output(folder / "install.txt"))
        return ""

    def _uninstalled(self, spec: WorkerSpec, why: str) -> list[TargetResult]:
        failure = a_failure("environment", "InstallFailed", why)
        results = [failed_result(target["id"], spec["side"], failure) for target in spec["targets"]]
        for result in results:
            self._on_result(result)
        return results

    def _side(self, spec: WorkerSpec, on_death: Callable[[], None], before: Sequence[SideRun]) -> SideRun:
        if spec["side"] == "base":
            self._guards["base"] = TreeGuard(Path(spec["worktree"]), self._packages)
        folder = Path(tempfile.mkdtemp(prefix=f"{spec['side']}-", dir=self._scratch))
        return SideRun(
            spec=spec,
            folder=folder,
            interpreter=self._interpreters[spec["side"]],
            limits=self._limits,
            on_result=self._on_result,
            on_death=on_death,
            may_begin=lambda: all(side.is_measured for side in before),
            guard=self._guards.get(spec["side"]),
        )


def _wait_for_any(filenos: Sequence[int]) -> None:
    """Wait until one can be read, or for a moment: a file that a target writes wakes nobody."""
    if filenos:
        select.select(filenos, [], [], POLL_SECONDS)
    else:
        time.sleep(POLL_SECONDS)


def _ignore(_news: object) -> None:
    """Nobody asked for it."""


def _interpreter(python: str) -> str:
    found = shutil.which(python)
    if found is None:
        raise MeasurementError(
            f"the interpreter {python!r} cannot be found or executed: set up Python 3.11 or newer in the job, "
            "or name its path with the input python"
        )
    return str(Path(found).absolute())  # not resolved: a venv's python is a link, and the link's place matters


def _own_packages(folder: Path) -> Path:
    """Return a folder with copies of our two packages and nothing else, so that no other package comes along.

    Copies, because measured code can write wherever its worker can: a link would lead it into the environment that the
    later steps start from.
    """
    for package in (torchscan, ci_action):
        home = Path(package.__path__[0]).resolve()
        if not (folder / home.name).exists():
            shutil.copytree(home, folder / home.name, ignore=shutil.ignore_patterns("__pycache__", "_templates"))
    return folder


def _refuse_broken_interpreter(results: Sequence[TargetResult]) -> None:
    reasons = [result["failure"]["message"] for result in results if _is_environmental(result) and result["failure"]]
    if results and len(reasons) == len(results):
        raise MeasurementError(reasons[0])


def _is_environmental(result: TargetResult) -> bool:
    return result["failure"] is not None and result["failure"]["stage"] == "environment"
