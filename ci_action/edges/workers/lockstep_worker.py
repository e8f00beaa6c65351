"""One worker of a lockstep pair as the orchestrator sees it: told what to do, waited for, watched, ended."""

from __future__ import annotations

import json
import os
import select
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

from ci_action.core.spec import a_failure
from ci_action.core.strict_json import parse_json
from ci_action.core.timing.evidence import KILLED
from ci_action.core.timing.lockstep import ANSWER_BYTES
from ci_action.edges.workers.answers import is_sound
from ci_action.edges.workers.death import cause
from ci_action.edges.workers.result_file import read_failure
from ci_action.edges.workers.watch import WatchedProcess, shown_output
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.spec import Failure, Side, WorkerSpec
    from ci_action.core.timing.lockstep import Answer, Command, Ready
    from ci_action.edges.workers.place import ChildLimits, Interpreter, WorkerPlace

LOOK_SECONDS = 0.5
"""How long a block may run before its process is looked at: looking costs processor time that the block would miss."""

_ANSWERS = {
    "calibrate": "call_seconds",
    "block": "seconds",
    "peak": "peak",
    "outputs": "outputs",
    "rss": "rss_bytes",
    "instructions": "instructions",
}


class WorkerFailed(Exception):  # noqa: N818 # a signal between edges, never shown as an error
    """A worker gave up, died, or was stopped: of which side, and why."""

    def __init__(self, side: Side, failure: Failure) -> None:
        super().__init__(failure["message"])
        self.side = side
        self.failure = failure


class LockstepWorker:
    """A fresh process for one side. It is ready once ``ready()`` has returned, and runs only what it is told to."""

    def __init__(
        self,
        spec: WorkerSpec,
        *,
        folder: Path,
        interpreter: Interpreter,
        limits: ChildLimits,
        under: Sequence[str] = (),
    ) -> None:
        self.side = spec["side"]
        self._limits = limits
        self._output = folder / "output.txt"
        self._unread = b""
        self._is_serial = False
        file = folder / "spec.json"
        file.write_text(json.dumps(spec), encoding="utf-8")
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        program = [*under, interpreter.python, "-P", "-m", "ci_action.worker.lockstep"]
        try:
            self._process = WatchedProcess(
                [*program, str(file), str(commands), str(answers)],
                cwd=Path(spec["root"]),
                environment=interpreter.environment,
                output=self._output,
                pass_fds=(commands, answers),
            )
        except OSError:
            os.close(self._commands)
            os.close(self._answers)
            raise
        finally:
            os.close(commands)
            os.close(answers)

    def ready(self) -> Ready:
        """Wait until the target is built and warm. Raises WorkerFailed."""
        ready = self._answer("ready")["ready"]
        self._is_serial = ready["is_serial"] is True
        return ready

    def is_serial(self) -> bool:
        """Whether it is ready, and a single thread did all of its work so far."""
        return self._is_serial and not self._process.has_children()

    def hold_on(self, core: int) -> None:
        """Keep it on one core from now on."""
        self._process.hold_on(core)

    def ask(self, command: Command) -> Answer:
        """Give a command and wait for its answer. Raises WorkerFailed."""
        self.tell(command)
        return self.answer(command)

    def tell(self, command: Command) -> None:
        """Give a command; it is carried out as soon as the worker is ready."""
        with suppress(BrokenPipeError):  # it has ended: its last answer, or its exit code, says why
            os.write(self._commands, json.dumps(command).encode() + b"\n")

    def answer(self, command: Command) -> Answer:
        """Wait for the answer to a command that was given. Raises WorkerFailed."""
        return self._answer(_ANSWERS[command["do"]])

    def resident_bytes(self) -> int:
        """The most that the process and its descendants were seen to hold."""
        return self._process.look()

    def output(self) -> str:
        """What the measured code printed, capped."""
        return shown_output(self._output)

    def stop(self) -> None:
        """End the process and whatever it started."""
        self._process.kill()
        for descriptor in (self._commands, self._answers):
            with suppress(OSError):
                os.close(descriptor)

    def discard(self) -> None:
        """Remove what it wrote: a run starts dozens of workers."""
        shutil.rmtree(self._output.parent, ignore_errors=True)

    def _answer(self, expected: str) -> Answer:
        began = monotonic()
        self._enforce(began)  # one that always answers fast is never waited for, and may hold more each time
        while b"\n" not in self._unread:
            readable, _, _ = select.select([self._answers], [], [], LOOK_SECONDS)
            if readable:
                chunk = os.read(self._answers, 1 << 16)
                self._unread += chunk
                if len(self._unread) > ANSWER_BYTES:
                    raise self._malformed()
                if not chunk:
                    self._ended()
                self._process.look()  # holds what it prints to its cap
                continue  # what it has answered counts, however much memory it took meanwhile
            # A child that the measured code left behind may hold the pipe open after the worker's own end.
            if self._process.returncode is not None:
                self._ended()
            self._enforce(began)
        line, _, self._unread = self._unread.partition(b"\n")
        return self._parsed(line, expected)

    def _parsed(self, line: bytes, expected: str) -> Answer:
        try:
            answer: Any = parse_json(line)
        except EvidenceError as error:
            raise self._malformed() from error
        if isinstance(answer, dict) and isinstance(answer.get("failure"), dict):
            raise WorkerFailed(self.side, self._told(answer["failure"]))
        if not isinstance(answer, dict) or set(answer) != {expected} or not is_sound(expected, answer[expected]):
            raise self._malformed()
        return cast("Answer", answer)

    def _told(self, failure: dict[str, Any]) -> Failure:
        try:
            return read_failure(failure)
        except EvidenceError:
            raise self._malformed() from None

    def _malformed(self) -> WorkerFailed:
        return self._fault("MalformedResult", "the worker's answer is not what was asked for")

    def _ended(self) -> None:
        deadline = monotonic() + LOOK_SECONDS
        while self._process.returncode is None and monotonic() < deadline:
            sleep(LOOK_SECONDS / 10)  # the pipe closes a moment before the process has ended with its own code
        code = self._process.returncode
        if code is None:  # what ends it is our own signal, which would say nothing of it
            raise self._fault("WorkerDied", "the measured code closed the pipe that its worker answers on")
        # Head's code can send a signal to base's process, so base's death by one is not known to be its own fault.
        kind = KILLED if code < 0 and self.side == "base" else "WorkerDied"
        raise self._fault(kind, cause(code, self._process.peak_bytes))

    def _enforce(self, began: float) -> None:
        if breach := self._process.breach(self._limits, began, owed="answer"):
            raise self._fault(breach.kind, breach.message)

    def _fault(self, kind: str, message: str) -> WorkerFailed:
        return WorkerFailed(self.side, a_failure("benchmark", kind, message))


def start_worker(place: WorkerPlace, spec: WorkerSpec, under: Sequence[str] = ()) -> LockstepWorker:
    """Start a worker for one side; it still has to become ready. ``under`` is a program that runs it.

    Raises WorkerFailed.
    """
    interpreter = place.interpreters[spec["side"]]
    if (guard := place.guards.get(spec["side"])) and (failure := guard.failure()):
        raise WorkerFailed(spec["side"], failure)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"lockstep-{spec['side']}-", dir=place.scratch))
        return LockstepWorker(spec, folder=folder, interpreter=interpreter, limits=place.limits, under=under)
    except OSError as error:  # measured code may have removed its folder, or used up what a process needs
        told = f"its process could not be started: {error.strerror}"
        raise WorkerFailed(spec["side"], a_failure("benchmark", "OSError", told)) from error
