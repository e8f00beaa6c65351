"""Forks a child per target from a process that holds torch and our own code, and nothing of the repository.

What a target patches, sets or imports ends with its child, so no target can change the result of another.
"""

from __future__ import annotations

import gc
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from ci_action.core.spec import WorkerSpec
from ci_action.worker.environment import die_with_parent, environment_fault


def serve(spec: WorkerSpec, reader: int, writer: int, *, reason: str | None) -> int:
    """Fork a child for each command until the commands end. An answer follows each child's end."""
    with os.fdopen(reader, encoding="utf-8") as commands, os.fdopen(writer, "w", encoding="utf-8") as answers:
        if reason:
            _send(answers, {"failure": environment_fault(reason)})
            return 0
        _load_what_every_target_needs()
        gc.freeze()  # a collection in a child would otherwise write to, and so copy, every page of torch's objects
        _send(answers, {"ready": _can_fork()})
        for line in commands:
            command = json.loads(line)
            child = os.fork()
            if child == 0:
                _become_the_child((reader, writer))
                _measure(spec, command)
            _, status, usage = os.wait4(child, 0)
            code, peak_bytes = os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024
            _send(answers, {"ended": code, "peak_bytes": peak_bytes, "left": _has_children()})
    return 0


def _load_what_every_target_needs() -> None:
    """Load what an analysis would load at its first use: each child would do it again."""
    with suppress(ImportError):
        import torch.utils.flop_counter  # noqa: F401


def _can_fork() -> bool:
    """Check whether a child can work: a lock that another thread holds stays locked in it, and CUDA does not work."""
    import torch

    return len(os.listdir("/proc/self/task")) == 1 and not torch.cuda.is_initialized()  # type: ignore[no-untyped-call] # noqa: PTH208


def _become_the_child(channel: tuple[int, int]) -> None:
    host = os.getppid()
    os.setsid()  # what it sends to its group does not reach the process that forks the next target
    die_with_parent()
    if os.getppid() != host:
        os._exit(1)  # that process ended before its end could be noticed
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in channel:
        os.dup2(nothing, descriptor, inheritable=False)  # no target speaks for its parent
    os.close(nothing)


def _measure(spec: WorkerSpec, command: dict[str, Any]) -> None:
    from ci_action.worker.run import run_and_exit

    (target,) = (item for item in spec["targets"] if item["index"] == command["index"])
    run_and_exit(spec, target, Path(command["out"]))


def _has_children() -> bool:
    """Reap what a target left behind and has ended by now. Check whether something of it is still there."""
    with suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
    return False


def _send(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
