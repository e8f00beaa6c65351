"""Every way in which measured code can spoil its own timing, each with its verdict."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.lockstep_models import measurer, spec, timed, two_sides

from ci_action.core.timing.rows import notes
from ci_action.edges.workers import watch
from ci_action.edges.workers.lockstep_worker import LockstepWorker, WorkerFailed
from ci_action.edges.workers.place import ChildLimits
from ci_action.edges.workers.watch import MEMORY_INTERVAL_SECONDS, OUTPUT_BYTES

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a worker is spoken to over inherited descriptors")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    return two_sides(tmp_path)


@pytest.fixture
def started(folders: Path) -> Iterator[Any]:
    workers: list[LockstepWorker] = []

    def start(factory: str, *, timeout_seconds: float = 60, memory_bytes: int | None = None) -> LockstepWorker:
        child = measurer(folders)
        folder = folders / f"worker-{len(workers)}"
        folder.mkdir()
        workers.append(
            LockstepWorker(
                spec(folders, "head", factory),
                folder=folder,
                interpreter=child._interpreters["head"],
                limits=ChildLimits(timeout_seconds=timeout_seconds, memory_bytes=memory_bytes),
            )
        )
        return workers[-1]

    yield start
    for worker in workers:
        worker.stop()


def run_blocks(worker: LockstepWorker, count: int) -> None:
    worker.ready()
    for _ in range(count):
        worker.ask({"do": "block", "calls": 2})


@pytest.mark.parametrize(
    ("factory", "limits", "kind", "message"),
    [
        ("leaks", {"memory_bytes": 700 << 20}, "MemoryLimit", "the memory-limit is"),
        ("sleeps", {"timeout_seconds": 4}, "Timeout", "no answer within 4 s"),
        ("changes_threads", {}, "ThreadsChanged", "changed torch's threads from"),
        ("changes_threads_late", {}, "ThreadsChanged", "changed torch's threads from"),
        ("changes_interop_threads", {}, "ThreadsChanged", "changed torch's inter-op threads from"),
        ("leaves", {}, "WorkerDied", "exit code 0 before it had a result"),
        ("leaves_late", {}, "WorkerDied", "exit code 0 before it had a result"),
        ("leaves_the_pipe_to_a_child", {}, "WorkerDied", "exit code 0 before it had a result"),
        ("exits", {}, "SystemExit", "exit(0)"),
        ("interrupts", {}, "KeyboardInterrupt", ""),
        ("odd", {}, "Odd", "(the exception cannot be printed)"),
        ("kills_itself", {}, "WorkerDied", "killed by SIGKILL"),
        ("crashes", {}, "WorkerDied", "killed by SIGSEGV"),
        ("closes_pipes", {}, "WorkerDied", ""),
        ("closes_pipes_and_stays", {}, "WorkerDied", "closed the pipe that its worker answers on"),
        ("answers_without_end", {}, "MalformedResult", "not what was asked for"),
        ("strange_units", {}, "ValueError", "work_units"),
        ("lies", {}, "MalformedResult", "not what was asked for"),
    ],
)
def test_a_fault_has_its_name(started: Any, factory: str, limits: dict[str, Any], kind: str, message: str) -> None:
    worker = started(factory, **limits)
    with pytest.raises(WorkerFailed) as fault:
        run_blocks(worker, 200)
    assert fault.value.side == "head"
    assert fault.value.failure["type"] == kind
    assert message in fault.value.failure["message"]


@pytest.mark.parametrize("factory", ["closes_its_output", "asks_for_threads_too_late", "leaves_torch_changed"])
def test_what_changes_no_timing_is_no_fault(started: Any, factory: str) -> None:
    run_blocks(started(factory), 20)


@pytest.mark.parametrize(("factory", "is_serial"), [("linear", True), ("threaded", False), ("forks", False)])
def test_work_on_other_threads_or_in_children_needs_more_than_one_core(
    started: Any, factory: str, is_serial: bool
) -> None:
    worker = started(factory)
    worker.ready()
    assert worker.is_serial() is is_serial


@pytest.mark.parametrize("factory", ["expands", "counts"])
def test_outputs_that_are_too_large_are_refused_before_they_are_copied(started: Any, factory: str) -> None:
    worker = started(factory, memory_bytes=2 << 30)
    worker.ready()
    with pytest.raises(WorkerFailed) as fault:
        worker.ask({"do": "outputs", "folder": str(worker._output.parent / "outputs")})
    assert fault.value.failure["type"] == "OutputsError"
    assert fault.value.failure["message"] == "the outputs take more than 256 MiB: return a part of them"


def test_threads_that_one_side_sets_are_named_beside_its_timing(folders: Path) -> None:
    found = timed(folders, "one_thread", "three_threads")
    assert found["failure"] is None
    assert "base ran with 1 torch threads, head with 3" in notes(found)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone lets a process keep its orphans")
def test_a_daemon_of_measured_code_is_ended(folders: Path, started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # given one that nobody has looked at before the end
    monkeypatch.setattr(watch, "MEMORY_INTERVAL_SECONDS", 1e9)
    worker = started("daemons")
    run_blocks(worker, 20)
    daemon = psutil.Process(int((folders / "head" / "daemon").read_text()))
    worker.stop()
    gone, alive = psutil.wait_procs([daemon], timeout=5)
    assert (gone, alive) == ([daemon], [])


def test_children_that_measured_code_leaves_behind_are_ended(started: Any) -> None:
    worker = started("forks")
    worker.ready()
    children = psutil.Process(worker._process._process.pid).children(recursive=True)
    assert children
    worker.ask({"do": "block", "calls": 1})
    worker.stop()
    gone, alive = psutil.wait_procs(children, timeout=5)
    assert (len(gone), alive) == (len(children), [])


def test_gigabytes_of_print_neither_fill_the_disk_nor_stop_the_clock(started: Any) -> None:
    worker = started("prints")
    worker.ready()
    began = time.monotonic()
    while time.monotonic() - began < 1.5:
        assert worker.ask({"do": "block", "calls": 20})["seconds"] > 0
    time.sleep(MEMORY_INTERVAL_SECONDS)
    worker.ask({"do": "block", "calls": 1})
    assert worker._output.stat().st_size <= OUTPUT_BYTES + (2 << 20)
