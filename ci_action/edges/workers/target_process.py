"""The process that measures one target: forked from one that holds torch already, or started on its own."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ci_action.edges.workers.watch import WatchedProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ci_action.core.spec import Failure, WorkerSpec
    from ci_action.edges.workers.place import Interpreter

GRACE_SECONDS = 0.5
"""How long a process with a result may take to end by itself: what it printed last is still on its way."""
REAP_SECONDS = 5.0
ANSWER_BYTES = 1 << 16


class TargetProcess(Protocol):
    """A process that measures one target."""

    @property
    def watched(self) -> WatchedProcess:
        """What is looked at for time and memory."""

    @property
    def code(self) -> int | None:
        """The exit code once it has ended; negative for a signal."""

    @property
    def peak_bytes(self) -> int:
        """The most memory that it was seen to hold, with its descendants."""

    def end(self, grace_seconds: float) -> Iterator[None]:
        """End it and whatever it started, waiting a moment for it to do so itself."""


class Started:
    """A process of its own, which imports torch itself."""

    def __init__(self, spec: WorkerSpec, file: Path, interpreter: Interpreter, output: Path) -> None:
        file.write_text(json.dumps(spec), encoding="utf-8")
        self.watched = _program(spec, file, interpreter, output)

    @property
    def code(self) -> int | None:
        """The exit code once it has ended."""
        return self.watched.returncode

    @property
    def peak_bytes(self) -> int:
        """The most memory that it was seen to hold, with its descendants."""
        return self.watched.peak_bytes

    def end(self, grace_seconds: float) -> Iterator[None]:
        """End it, its descendants with it."""
        yield from _until(lambda: self.code is not None, grace_seconds)
        self.watched.kill()


class ForkHost:
    """A process that holds torch and nothing of the repository. It forks one child at a time; Linux only."""

    def __init__(self, spec: WorkerSpec, file: Path, interpreter: Interpreter, output: Path) -> None:
        file.write_text(json.dumps(spec), encoding="utf-8")
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        os.set_blocking(self._answers, False)
        self._unread = b""
        self._has_answered = self.can_fork = False
        self.failure: Failure | None = None
        """Why its interpreter cannot measure at all."""
        self._ended: dict[str, Any] | None = None
        self._is_open = True
        try:
            self.watched = _program(spec, file, interpreter, output, (commands, answers))
        except OSError:
            self._close()
            raise
        finally:
            os.close(commands)
            os.close(answers)

    @property
    def fileno(self) -> int | None:
        """The descriptor that becomes readable once there is an answer."""
        return self._answers if self._is_open else None

    @property
    def is_alive(self) -> bool:
        """Whether it can take a command."""
        return self._is_open and self.watched.returncode is None

    def fork(self, index: int, out: Path) -> None:
        """Have a target measured by a child, which writes into ``out``."""
        self._ended = None
        self.watched.count_children_alone()
        with suppress(BrokenPipeError):  # it has ended, which is seen where its answer is waited for
            os.write(self._commands, json.dumps({"index": index, "out": str(out)}).encode() + b"\n")

    @property
    def code(self) -> int | None:
        """The exit code of the child once it has ended; of the host where that ended before it."""
        has_ended = self.watched.returncode  # asked first: it answers nothing after its end
        self.read()
        return int(self._ended["ended"]) if self._ended else has_ended

    @property
    def peak_bytes(self) -> int:
        """The most memory that the child was seen to hold, by us or by the kernel."""
        return max(self.watched.peak_bytes, self._ended["peak_bytes"] if self._ended else 0)

    def end(self, grace_seconds: float) -> Iterator[None]:
        """End the child and what it started. A host that does not notice is ended as well."""
        yield from _until(lambda: self.code is not None, grace_seconds)
        if self._ended and not self._ended["left"]:
            return
        self.watched.kill_descendants()
        yield from _until(lambda: self.code is not None, REAP_SECONDS)
        if not self._ended:
            self.stop()

    def stop(self) -> None:
        """End it, and whatever is below it."""
        self.watched.kill()
        self._close()

    def read(self) -> bool:
        """Take what it has answered. Check whether it has answered at all."""
        while self._is_open:
            try:
                chunk = os.read(self._answers, ANSWER_BYTES)
            except BlockingIOError:
                break
            self._unread += chunk
            *lines, self._unread = self._unread.split(b"\n")
            for answer in map(json.loads, lines):  # no code but ours has ever run in it
                if "ended" in answer:
                    self._ended = answer
                else:
                    self._has_answered = True
                    self.can_fork, self.failure = answer.get("ready", False), answer.get("failure")
            if not chunk:
                self._close()
        return self._has_answered

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            os.close(self._commands)
            os.close(self._answers)


def _program(
    spec: WorkerSpec, file: Path, interpreter: Interpreter, output: Path, channel: tuple[int, ...] = ()
) -> WatchedProcess:
    return WatchedProcess(
        [interpreter.python, "-P", "-m", "ci_action.worker", str(file), *map(str, channel)],
        cwd=spec["root"],
        environment=interpreter.environment,
        output=output,
        pass_fds=channel,
    )


def _until(is_done: Any, seconds: float) -> Iterator[None]:
    began = monotonic()
    while not is_done() and monotonic() - began < seconds:
        yield
