"""Counts both sides' instructions in workers that run under callgrind, side by side: neighbours change no count."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ci_action.core.timing.instructions import InstructionCounts
from ci_action.edges.workers.lockstep_worker import WorkerFailed, start_worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ci_action.core.spec import Side, WorkerSpec
    from ci_action.core.timing.instructions import Gap
    from ci_action.core.timing.lockstep import Command
    from ci_action.edges.workers.lockstep_worker import LockstepWorker
    from ci_action.edges.workers.place import WorkerPlace

ONE_THREAD = MappingProxyType({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})
"""Threads that wait for each other spin, and how long they do so is no property of the code."""

_GAPS: Mapping[str, Gap] = MappingProxyType({"NoRequests": "no_requests"})


def count_instructions(
    specs: Sequence[WorkerSpec], place: WorkerPlace, notes: list[str], *, together: bool
) -> dict[Side, InstructionCounts]:
    """Count the instructions of one call of each side's target, or say why not. It never fails a target.

    ``together`` runs both sides at once, each on its one thread.
    """
    if any(target["device"] != "cpu" for spec in specs for target in spec["targets"]):
        return {spec["side"]: {"counts": [], "gap": "not_on_cpu"} for spec in specs}
    if any(_valgrind(spec, place) is None for spec in specs):
        return {spec["side"]: {"counts": [], "gap": "no_valgrind"} for spec in specs}
    if any(spec["threads"] != 1 for spec in specs):
        notes.append("instructions were counted on one thread, whatever threads says: other counts do not repeat")
    found: dict[Side, InstructionCounts] = {}
    for group in [specs] if together else [[spec] for spec in specs]:
        found |= _counted(group, place, notes)
    return found


def _valgrind(spec: WorkerSpec, place: WorkerPlace) -> str | None:
    return shutil.which("valgrind", path=place.interpreters[spec["side"]].environment.get("PATH", ""))


def _counted(specs: Sequence[WorkerSpec], place: WorkerPlace, notes: list[str]) -> dict[Side, InstructionCounts]:
    found: dict[Side, InstructionCounts] = {}
    workers: list[tuple[LockstepWorker, Command]] = []
    try:
        for spec in specs:  # one by one: those that started are ended
            with _noted(found, notes):
                workers.append(_started(spec, place))
        for worker, command in workers:
            with _noted(found, notes):
                worker.ready()
                found[worker.side] = {"counts": worker.answer(command)["instructions"], "gap": ""}
    finally:
        for worker, command in workers:
            worker.stop()
            worker.discard()
            shutil.rmtree(command["folder"], ignore_errors=True)
    return found


@contextmanager
def _noted(found: dict[Side, InstructionCounts], notes: list[str]) -> Iterator[None]:
    """Note a worker's failure as the reason why its side has no count."""
    try:
        yield
    except WorkerFailed as failed:
        reason = failed.failure
        found[failed.side] = {"counts": [], "gap": _GAPS.get(reason["type"], "failed")}
        notes.append(f"instructions of {failed.side}: {reason['type']}: {reason['message']}")


def _started(spec: WorkerSpec, place: WorkerPlace) -> tuple[LockstepWorker, Command]:
    """Start a worker under callgrind, told beforehand to count: so both sides work while one is waited for."""
    folder = tempfile.mkdtemp(prefix=f"callgrind-{spec['side']}-", dir=place.scratch)
    under = (
        *(_valgrind(spec, place) or "valgrind", "--tool=callgrind", "--quiet"),
        *("--instr-atstart=no", "--collect-atstart=no"),
        # An interpreter may be a script that starts the real one (pyenv): each process writes a file of its own.
        *("--trace-children=yes", f"--callgrind-out-file={Path(folder) / '%p'}"),
    )
    interpreter = place.interpreters[spec["side"]]
    quiet = replace(interpreter, environment={**interpreter.environment, **ONE_THREAD})
    single = replace(place, interpreters={**place.interpreters, spec["side"]: quiet})
    worker = start_worker(single, {**spec, "threads": 1}, under=under)
    command: Command = {"do": "instructions", "folder": folder}
    worker.tell(command)
    return worker, command
