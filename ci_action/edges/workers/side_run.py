"""One side's targets, one after the other, each in a process of its own; every one of them gets exactly one result.

No target is measured twice: whatever becomes of a process that has begun with its target is that target's result.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ci_action.core.spec import BEGUN, RESULT, Failure, TargetResult, TargetSpec, WorkerSpec, a_failure, failed_result
from ci_action.edges.workers.death import cause
from ci_action.edges.workers.interpreter import unfit
from ci_action.edges.workers.result_file import read_result
from ci_action.edges.workers.target_process import GRACE_SECONDS, ForkHost, Started, TargetProcess
from ci_action.edges.workers.watch import shown_output

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ci_action.edges.workers.place import ChildLimits, Interpreter
    from ci_action.edges.workers.tree import TreeGuard

CAN_FORK = sys.platform.startswith("linux")
"""Elsewhere a forked process cannot use the system's own libraries (macOS), or there is no fork (Windows)."""
START_SECONDS = 120.0
"""What a worker may need to start and import torch, on a cold and busy machine."""


class SideRun:
    """Runs one WorkerSpec to its end, step by step, so that two sides can take turns."""

    def __init__(
        self,
        *,
        spec: WorkerSpec,
        folder: Path,
        interpreter: Interpreter,
        limits: ChildLimits,
        on_result: Callable[[TargetResult], None],
        on_death: Callable[[], None],
        may_begin: Callable[[], bool] = lambda: True,
        guard: TreeGuard | None = None,
    ) -> None:
        self.name = spec["side"]
        self._spec = spec
        self._folder = folder
        self._interpreter = interpreter
        self._limits = limits
        self._on_result = on_result
        self._on_death = on_death
        self._may_begin = may_begin
        self._guard = guard
        self._pending = list(spec["targets"])
        self._results: list[TargetResult] = []
        self._host: ForkHost | None = None
        self._process: TargetProcess | None = None
        # A fork cannot use what CUDA has set up in its parent, and importing torch may do so one day.
        is_on_cuda = any(target["device"] == "cuda" for target in spec["targets"])
        self._is_forked = CAN_FORK and not is_on_cuda
        self._has_begun = False
        self._flow = self._steps()

    def is_done_after_step(self) -> bool:
        """Go on as far as nothing has to be waited for. True once all targets have a result."""
        return next(self._flow, self) is self

    def stop(self) -> None:
        """End every process of this side and whatever they started."""
        self._flow.close()
        if self._process is not None:
            self._process.watched.kill()
        self._stop_host()

    @property
    def filenos(self) -> list[int]:
        """The descriptors that become readable once this side can go on."""
        return [self._host.fileno] if self._host and self._host.fileno is not None else []

    @property
    def pids(self) -> set[int]:
        """The processes that this side runs now."""
        alive = [item.watched for item in (self._host, self._process) if item is not None]
        return {item.pid for item in alive if item.returncode is None}

    def output(self) -> str:
        """What the side printed, capped."""
        return shown_output(self._output)

    @property
    def is_measured(self) -> bool:
        """Whether every target has its result, in our own memory."""
        return not self._pending

    @property
    def in_progress(self) -> str:
        """The id of the target that is being measured; empty once all are."""
        return self._pending[0]["id"] if self._pending else ""

    def results(self) -> list[TargetResult]:
        """One result per target, in the spec's order."""
        return list(self._results)

    @property
    def _output(self) -> Path:
        return self._folder / "output.txt"

    def _steps(self) -> Generator[None]:
        while self._pending:
            try:
                result = yield from self._measured(self._pending[0])
            except OSError as error:  # measured code may have removed what a process needs, or used up all of them
                failure = a_failure("worker", "OSError", f"its process could not be started: {error.strerror}")
                result = failed_result(self.in_progress, self.name, failure)
            if result["failure"] and result["failure"]["stage"] == "environment" and not self._has_begun:
                self._fail_all(result["failure"])  # whatever stopped this one would stop the next one too
            else:
                self._take(result)
        self._stop_host()

    def _measured(self, target: TargetSpec) -> Generator[None, None, TargetResult]:
        """Measure one target. Its process is started again only where it has not begun with it."""
        is_again = False
        while True:
            found = yield from self._started(target)
            if not isinstance(found, tuple):
                return failed_result(target["id"], self.name, found)
            process, out = found
            result = yield from self._result(target, process, out)
            if result is not None:
                return result
            failure = self._not_begun(process)
            if is_again or failure["stage"] == "environment":
                return failed_result(target["id"], self.name, failure)
            is_again = True

    def _started(self, target: TargetSpec) -> Generator[None, None, tuple[TargetProcess, Path] | Failure]:
        if self._is_forked and (failure := (yield from self._await_host())):
            return failure
        while not self._may_begin():  # only torch has been imported so far
            yield
        if self._guard is not None and (failure := self._guard.failure()):
            return failure
        # A new folder of a name that nobody knows before: no other target can have left a result in it.
        out = Path(tempfile.mkdtemp(prefix="out-", dir=self._folder))
        if self._is_forked and self._host is not None:
            self._host.fork(target["index"], out)
            return self._host, out
        spec: WorkerSpec = {**self._spec, "out": str(out), "targets": [target]}
        self._process = Started(spec, out / "spec.json", self._interpreter, self._output)
        return self._process, out

    def _await_host(self) -> Generator[None, None, Failure | None]:
        """Have a process that can fork, or find that this interpreter's cannot. Return why there is neither."""
        if self._host is not None and self._host.is_alive:
            return None
        self._stop_host()
        file = Path(tempfile.mkdtemp(prefix="host-", dir=self._folder)) / "spec.json"
        host = self._host = ForkHost(self._spec, file, self._interpreter, self._output)
        began, limits = monotonic(), replace(self._limits, timeout_seconds=START_SECONDS)
        has_ended = False
        while not host.read():
            if has_ended:
                return self._not_begun(host)
            has_ended = host.watched.returncode is not None  # once more: its answer may have come before its end
            if breach := host.watched.breach(limits, began, owed="start"):
                reason = breach.message if breach.kind == "MemoryLimit" else f"not ready within {START_SECONDS:g} s"
                return a_failure("environment", breach.kind, f"the worker did not start: {reason}")
            yield
        if not (host.failure or host.can_fork):
            self._is_forked = False
            self._stop_host()
        return host.failure

    def _result(
        self, target: TargetSpec, process: TargetProcess, out: Path
    ) -> Generator[None, None, TargetResult | None]:
        """Wait for the target's result, and end its process. None if it ended before it had begun."""
        since, has_begun, grace_seconds = monotonic() + START_SECONDS, False, 0.0
        result: TargetResult | None = None
        while result is None:
            code = process.code  # asked before reading: nothing is written after the end
            if not has_begun and (out / BEGUN).exists():
                has_begun, since = True, monotonic()  # its time counts from here, not from the import of torch
            if (out / RESULT).exists():
                result, grace_seconds = read_result(out / RESULT, target["id"], self.name), GRACE_SECONDS
            elif code is not None and not has_begun:
                break
            elif code is not None:
                result = self._failed(target, "WorkerDied", cause(code, process.peak_bytes))
            elif breach := process.watched.breach(self._limits, since, owed="result"):
                result = self._failed(target, breach.kind, breach.message)
            else:
                yield
        self._has_begun |= has_begun
        yield from process.end(grace_seconds)
        self._process = None
        if process.watched.returncode is not None:
            self._on_death()  # what it started may have outlived it
        return result

    def _failed(self, target: TargetSpec, kind: str, message: str) -> TargetResult:
        return failed_result(target["id"], self.name, a_failure("worker", kind, message))

    def _not_begun(self, process: TargetProcess) -> Failure:
        """Return why a process ended before any code of the repository ran in it."""
        code = process.watched.returncode or 0
        if self._has_begun:
            return a_failure("worker", "WorkerDied", f"its process did not start: {cause(code, 0)}")
        reason = unfit(self._interpreter.python)
        reason = reason or f"the worker did not start: {_last_line(self.output()) or cause(code, 0)}"
        return a_failure("environment", "WorkerDied", reason)

    def _take(self, result: TargetResult) -> None:
        self._pending.pop(0)
        self._results.append(result)
        self._on_result(result)

    def _fail_all(self, failure: Failure) -> None:
        while self._pending:
            self._take(failed_result(self._pending[0]["id"], self.name, failure))

    def _stop_host(self) -> None:
        if self._host is not None:
            self._host.stop()
            self._host = None
            self._on_death()


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
