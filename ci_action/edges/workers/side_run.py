"""One side's workers: started, read as results appear, and started again for what a dead one left undone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from ci_action.core.spec import SPEC_VERSION, TargetResult, TargetSpec, WorkerSpec, a_failure, failed_result
from ci_action.core.strict_json import JsonLimits, parse_json
from ci_action.edges.workers.death import cause
from ci_action.edges.workers.watch import WatchedProcess, shown_output
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ci_action.edges.workers.place import ChildLimits, Interpreter

LARGE = JsonLimits(size_bytes=256 << 20, items=30_000_000)
"""A model of 50,000 modules is no attack: what must end is a result that would fill the memory."""
PROBE_SECONDS = 20
START_SECONDS = 120.0
"""What a worker may need to start and import torch, on a cold and busy machine."""
OLDEST_PYTHON = (3, 11)


class SideRun:
    """Runs one WorkerSpec to its end. Every target of the spec gets exactly one result, in order."""

    def __init__(
        self,
        *,
        spec: WorkerSpec,
        folder: Path,
        interpreter: Interpreter,
        limits: ChildLimits,
        on_result: Callable[[TargetResult], None] | None,
    ) -> None:
        self.name = spec["side"]
        self._spec = spec
        self._folder = folder
        self._interpreter = interpreter
        self._limits = limits
        self._on_result = on_result
        self._pending = list(spec["targets"])
        self._results: list[TargetResult] = []
        self._process: WatchedProcess | None = None
        self._since = monotonic()
        self._begun: int | None = None
        self._results_at_start = 0

    def start(self) -> None:
        """Start a worker for the targets that have no result yet."""
        if not self._pending:
            return
        out = self._folder / f"out-{len(self._results)}"
        out.mkdir()
        self._out = out
        self._results_at_start = len(self._results)
        spec: WorkerSpec = {**self._spec, "out": str(out), "targets": self._pending}
        file = self._folder / f"spec-{len(self._results)}.json"
        file.write_text(json.dumps(spec), encoding="utf-8")
        self._since = monotonic()
        self._process = WatchedProcess(
            [self._interpreter.python, "-P", "-m", "ci_action.worker", str(file)],
            cwd=Path(self._spec["root"]),
            environment=self._interpreter.environment,
            output=self._folder / "output.txt",
        )

    def is_done_after_step(self) -> bool:
        """Take what has been written, judge a death, restart if targets are left. True once all have a result."""
        if self._process is None:
            return True
        ended = self._process.returncode is not None  # asked before reading: nothing is written after the end
        self._read_results()
        if ended:
            self._after_end()
        else:
            self._enforce()
        return self._process is None

    def stop(self) -> None:
        """End the worker and whatever it started."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def output(self) -> str:
        """What the side printed, capped."""
        return shown_output(self._folder / "output.txt")

    @property
    def in_progress(self) -> str:
        """The id of the target that is being measured; empty once all are."""
        return self._pending[0]["id"] if self._pending else ""

    def results(self) -> list[TargetResult]:
        """One result per target, in the spec's order."""
        return list(self._results)

    def _read_results(self) -> None:
        while self._pending and (file := self._out / f"{self._pending[0]['index']}.json").exists():
            self._take(_read(file, self._pending[0], self._spec))

    def _take(self, result: TargetResult) -> None:
        self._pending.pop(0)
        self._results.append(result)
        self._since = monotonic()
        if self._on_result:
            self._on_result(result)

    def _enforce(self) -> None:
        assert self._process is not None  # noqa: S101 # asked by the caller
        since = self._since + (0 if self._has_begun() else START_SECONDS)
        if breach := self._process.breach(self._limits, since, owed="result"):
            self._bury(breach.kind, breach.message)

    def _has_begun(self) -> bool:
        """Whether the next target is under way; its time counts from there, not from the import of torch."""
        index = self._pending[0]["index"] if self._pending else None
        if index != self._begun and index is not None and (self._out / f"{index}.begun").exists():
            self._begun, self._since = index, monotonic()
        return index == self._begun

    def _after_end(self) -> None:
        assert self._process is not None  # noqa: S101 # asked by the caller
        if not self._pending:
            self.stop()  # also ends what the measured code may have left behind
            return
        code = self._process.returncode or 0
        if (self._out / f"{self._pending[0]['index']}.begun").exists():
            self._bury("WorkerDied", cause(code, self._process.peak_bytes))
            return
        if (self._out / "ready").exists() and len(self._results) > self._results_at_start:
            self.stop()  # it died between two targets: the next one is not to blame
            self.start()
            return
        reason = (
            _unfit(self._interpreter.python)
            or f"the worker did not start: {_last_line(self.output()) or cause(code, 0)}"
        )
        self.stop()
        while self._pending:  # whatever stopped it would stop the next one too
            self._take(failed_result(self._pending[0]["id"], self.name, a_failure("environment", "WorkerDied", reason)))

    def _bury(self, kind: str, message: str) -> None:
        """Give the target in progress its failure, and go on with the others in a fresh worker."""
        self.stop()
        self._take(failed_result(self._pending[0]["id"], self.name, a_failure("worker", kind, message)))
        self.start()


def _read(file: Path, target: TargetSpec, spec: WorkerSpec) -> TargetResult:
    try:
        if file.is_symlink():
            raise EvidenceError("the result is a link")
        result: Any = parse_json(file.read_bytes(), LARGE)
        if not isinstance(result, dict) or result.get("version") != SPEC_VERSION:
            raise EvidenceError("the result is of another version")
        if (result.get("id"), result.get("side")) != (target["id"], spec["side"]):
            raise EvidenceError("the result is of another target")
        return cast("TargetResult", result)
    except (EvidenceError, OSError) as error:
        failure = a_failure("worker", "MalformedResult", f"the worker's result cannot be used: {error}")
        return failed_result(target["id"], spec["side"], failure)


def _unfit(python: str) -> str | None:
    """Ask the interpreter itself why a worker could not start: too old, or not a Python at all."""
    question = [python, "-c", "import sys; print('%d %d %d' % sys.version_info[:3])"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
        version = tuple(int(part) for part in answer.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        version = ()
    if len(version) != 3:
        return f"{python} is not a working Python: name another interpreter with the input python"
    if version < OLDEST_PYTHON:
        shown = ".".join(map(str, version))
        return f"{python} is Python {shown}, and 3.11 or newer is needed: name another one with the input python"
    return None


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
