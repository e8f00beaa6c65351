"""Thread counts that follow the cores: only what the workload itself changes is its fault.

Since torch 2.14 the inter-op count that nobody has set is the number of cores the calling thread may use. Models that
``follow the cores`` have counts of this kind with every torch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.lockstep_models import measurer, spec, timed, two_sides

from ci_action.core.timing.rows import notes
from ci_action.edges.workers.lockstep_worker import LockstepWorker, WorkerFailed
from ci_action.edges.workers.place import ChildLimits

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
pytestmark = pytest.mark.skipif(
    len(CORES) < 2, reason="a process can be held on fewer cores on Linux, with two of them"
)

Start = Callable[[str], LockstepWorker]


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    return two_sides(tmp_path)


@pytest.fixture
def started(folders: Path) -> Iterator[Start]:
    """Start a worker of one factory and wait until it is ready."""
    workers: list[LockstepWorker] = []

    def start(factory: str) -> LockstepWorker:
        folder = folders / f"worker-{len(workers)}"
        folder.mkdir()
        worker = LockstepWorker(
            spec(folders, "head", factory),
            folder=folder,
            interpreter=measurer(folders)._interpreters["head"],
            limits=ChildLimits(timeout_seconds=60),
        )
        workers.append(worker)
        worker.ready()
        return worker

    yield start
    for worker in workers:
        worker.stop()


def run_blocks(worker: LockstepWorker, count: int) -> None:
    for _ in range(count):
        worker.ask({"do": "block", "calls": 2})


@pytest.mark.parametrize("factory", ["linear", "follows_cores", "pins_itself_late"])
def test_a_serial_target_is_timed_on_one_core(folders: Path, factory: str) -> None:
    found = timed(folders, factory, factory, metrics=("latency",))
    assert found["failure"] is None
    assert [len(item["b_seconds"]) for item in found["rounds"]] == [len(found["rounds"][0]["a_seconds"])]
    assert not [note for note in notes(found) if "threads" in note]


@pytest.mark.parametrize("factory", ["linear", "follows_cores"])
def test_another_process_may_change_the_cores_at_any_time(started: Start, factory: str) -> None:
    worker = started(factory)
    for cores in (CORES[:1], CORES, CORES[1:], CORES[:1], CORES):
        os.sched_setaffinity(worker._process._process.pid, cores)
        run_blocks(worker, 3)


@pytest.mark.parametrize("factory", ["pins_itself", "pins_itself_late", "unpins_itself"])
def test_a_workload_may_choose_its_cores(started: Start, factory: str) -> None:
    worker = started(factory)
    worker.hold_on(CORES[0])
    run_blocks(worker, 20)


def test_a_pool_that_starts_on_the_given_core_changes_nothing(started: Start) -> None:
    # Once torch's inter-op pool has started, its size is the count; torch 2.14 makes it as large as the cores it finds.
    worker = started("starts_a_pool_late")
    worker.hold_on(CORES[0])
    worker.ask({"do": "block", "calls": 30})
    run_blocks(worker, 1)


@pytest.mark.parametrize(
    ("factory", "kind"),
    [
        ("changes_threads_late", "threads"),
        ("changes_interop_threads", "inter-op threads"),
        ("changes_threads_and_cores", "threads"),
    ],
)
def test_a_workload_that_changes_a_count_on_one_core_is_named(started: Start, factory: str, kind: str) -> None:
    worker = started(factory)
    worker.hold_on(CORES[0])
    with pytest.raises(WorkerFailed) as fault:
        run_blocks(worker, 20)
    assert fault.value.failure["type"] == "ThreadsChanged"
    assert f"changed torch's {kind} from" in fault.value.failure["message"]
