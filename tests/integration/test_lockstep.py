"""Real workers in lockstep: both alive at once, block by block, and every way in which measured code can spoil it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest

from ci_action.core.config.entries import Benchmark, OutputCheck
from ci_action.core.spec import WorkerSpec
from ci_action.core.timing.evidence import BenchmarkEvidence
from ci_action.core.timing.lockstep import BenchmarkJob
from ci_action.core.timing.rounds import log_ratios
from ci_action.core.timing.rows import notes
from ci_action.edges.workers import lockstep, watch
from ci_action.edges.workers.child import ChildMeasurer
from ci_action.edges.workers.limits import ChildLimits
from ci_action.edges.workers.lockstep_worker import LockstepWorker, WorkerFailed
from ci_action.edges.workers.watch import MEMORY_INTERVAL_SECONDS, OUTPUT_BYTES

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a worker is spoken to over inherited descriptors")

MODELS = dedent("""
    import hashlib, os, signal, sys, threading, time
    import torch
    from torch import nn

    def linear():
        return nn.Linear(8, 8), (torch.ones(2, 8),)

    def logged():
        def workload():
            with open("BLOCKS", "a") as log:
                log.write(f"{os.getpid()}\\n")
            time.sleep(0.004)
        return {"workload": workload, "work_units": 4, "work_unit": "images"}

    def slower():
        return {"workload": lambda: time.sleep(0.006), "work_units": 4, "work_unit": "images"}

    def wider():
        return nn.Linear(8, 9), (torch.ones(2, 8),)

    def fails_in_its_third_process():
        with open("processes.log", "a") as log:
            log.write("x")
        count = os.path.getsize("processes.log")
        def workload():
            if count >= 3:
                raise RuntimeError("the third time is one too many")
            time.sleep(0.002)
        return {"workload": workload}

    kept = []
    def leaks():
        return {"workload": lambda: kept.append(bytearray(20 << 20))}

    def forks():
        def workload():
            if not kept and not os.fork():
                time.sleep(60)
            kept.append(1)
        return {"workload": workload}

    def prints():
        line = "x" * 1_000_000
        return {"workload": lambda: print(line)}

    def sleeps():
        return {"workload": lambda: time.sleep(60)}

    def changes_threads():
        counts = iter(range(1, 10_000))
        return {"workload": lambda: torch.set_num_threads(1 + next(counts) % 2)}

    def after_warming_up(act):
        calls = iter(range(10_000))
        return {"workload": lambda: act() if next(calls) == 20 else None}

    def raises(error):
        def act(): raise error
        return after_warming_up(act)

    class Odd(BaseException):
        def __str__(self): raise ValueError("cannot be shown")

    def changes_threads_late():
        return after_warming_up(lambda: torch.set_num_threads(torch.get_num_threads() + 1))
    def changes_interop_threads():
        return after_warming_up(lambda: torch.set_num_interop_threads(torch.get_num_interop_threads() + 1))
    def shows_cores():
        def workload():
            with open("CORES", "a") as log:
                log.write(f"{os.getpid()} {sorted(os.sched_getaffinity(0))}\\n")
            time.sleep(0.002)
        return {"workload": workload}
    def threaded():
        def workload():
            work = lambda: hashlib.sha256(bytes(4 << 20))
            thread = threading.Thread(target=work)
            thread.start(), work(), thread.join()
        return {"workload": workload}

    def leaves(): return {"workload": lambda: os._exit(0)}
    def leaves_late(): return after_warming_up(lambda: os._exit(0))
    def exits(): return {"workload": lambda: sys.exit(0)}
    def interrupts(): return raises(KeyboardInterrupt())
    def odd(): return raises(Odd())
    def kills_itself(): return after_warming_up(lambda: os.kill(os.getpid(), signal.SIGKILL))
    def crashes(): return after_warming_up(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    def closes_pipes(): return after_warming_up(lambda: os.closerange(3, 64))
    def closes_pipes_and_stays(): return after_warming_up(lambda: (os.closerange(3, 64), time.sleep(60)))
    def answers_without_end():
        def act():
            for descriptor in range(3, 30):
                try: os.write(descriptor, b"x" * (2 << 20))
                except OSError: pass
        return after_warming_up(act)
    def leaves_the_pipe_to_a_child():
        def act():
            if not os.fork():
                os.setsid()
                time.sleep(60)
            os._exit(0)
        return after_warming_up(act)

    def daemons():
        def act():
            child = os.fork()
            if not child:
                os.setsid()
                if os.fork(): os._exit(0)
                open("daemon", "w").write(str(os.getpid()))
                time.sleep(60)
            os.waitpid(child, 0)
            while not (os.path.exists("daemon") and os.path.getsize("daemon")): time.sleep(0.01)
        return after_warming_up(act)

    def closes_its_output():
        return after_warming_up(lambda: (os.close(1), os.close(2), sys.stdout.close()))
    def asks_for_threads_too_late():
        return after_warming_up(lambda: os.environ.update(OMP_NUM_THREADS="7", MKL_NUM_THREADS="7"))
    def leaves_torch_changed():
        def act():
            torch.set_grad_enabled(False), torch.set_default_dtype(torch.float64), torch.manual_seed(3)
            torch.use_deterministic_algorithms(True), torch.set_default_device("meta")
        return after_warming_up(act)

    def expands(): return {"workload": lambda: torch.zeros(1).expand(1 << 40)}
    def counts(): return {"workload": lambda: ["x" * (1 << 20)] * 300}
    def one_thread():
        torch.set_num_threads(1)
        return linear()
    def three_threads():
        torch.set_num_threads(3)
        return linear()
    def strange_units(): return {"workload": lambda: None, "work_units": -1}
    def lies():
        def workload():
            for descriptor in range(3, 30):
                try: os.write(descriptor, b'{"seconds": NaN}\\n')
                except OSError: pass
        return {"workload": workload}
    def same_outputs(base, head): return bool((base == head).all())
    def no_outputs(base, head): return base.nothing
""")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for side in ("base", "head"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "models.py").write_text(
            MODELS.replace("BLOCKS", str(tmp_path / "blocks.log")).replace("CORES", str(tmp_path / "cores.log"))
        )
    return tmp_path


def spec(folders: Path, side: str, factory: str) -> WorkerSpec:
    root = str(folders / side)
    target = {"index": 0, "id": "net", "factory": f"models.py:{factory}", "analysis": "off", "device": "cpu"}
    return {
        "version": 1,
        "side": side,  # type: ignore[typeddict-item]
        "root": root,
        "worktree": root,
        "checkout": str(folders / "checkout"),
        "import_paths": ["."],
        "out": "",
        "seed": 0,
        "threads": None,
        "targets": [target],  # type: ignore[list-item]
    }


def measurer(folders: Path, **limits: Any) -> ChildMeasurer:
    scratch = folders / "scratch"
    scratch.mkdir(exist_ok=True)
    return ChildMeasurer(
        python=sys.executable, scratch=scratch, environ=os.environ, limits=ChildLimits(timeout_seconds=60, **limits)
    )


def timed(folders: Path, base: str | None, head: str, *, control: bool = False, **benchmark: Any) -> BenchmarkEvidence:
    job = BenchmarkJob(
        id="net",
        base=None if base is None else spec(folders, "base", base),
        head=spec(folders, "head", head),
        benchmark=Benchmark(**{"pairs": 1, **benchmark}),
        needs_control=control,
        budget_seconds=None,
    )
    return measurer(folders).benchmark([job])["net"]


def test_a_pair_is_alive_at_once_and_takes_turns(folders: Path) -> None:
    found = timed(folders, "logged", "logged", metrics=("latency", "process_peak_rss"))
    assert (found["failure"], found["mode"]) == (None, "lockstep")
    # the last two processes are the pair: seen from inside the workload, their blocks took turns as drawn
    (item,) = found["rounds"]
    pids = (folders / "blocks.log").read_text().split()
    pair = list(dict.fromkeys(pids))[-2:]
    turns = [pid for pid, _ in groupby(pid for pid in pids if pid in pair)]
    drawn = [letter for letter, _ in groupby(item["order"])]
    assert len(set(zip(turns[2 - len(drawn) :], drawn[2:], strict=True))) == 2
    assert len(item["a_seconds"]) == len(item["order"]) // 2
    for side in ("base", "head"):
        evidence = found[side]  # type: ignore[literal-required]
        assert evidence["context"]["work_unit"] == "images"
        assert len(evidence["rss_bytes"]) == 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux alone holds a process on a core")
def test_sides_that_need_one_core_have_the_same_one(folders: Path) -> None:
    assert timed(folders, "shows_cores", "shows_cores")["failure"] is None
    lines = [line.split(maxsplit=1) for line in (folders / "cores.log").read_text().splitlines()]
    pair = list(dict.fromkeys(pid for pid, _ in lines))[-2:]
    last = {pid: cores for pid, cores in lines if pid in pair}
    assert len(set(last.values())) == 1
    assert "," not in last[pair[0]]


def test_a_slower_head_shows_and_base_against_itself_does_not(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "CONTROL_PAIRS", 1)
    found = timed(folders, "logged", "slower", control=True)
    (change,) = log_ratios(found["rounds"], "pair")
    (control,) = log_ratios(found["rounds"], "control")
    # 6 ms of sleep against 4 ms: ln 1.5 = 0.41
    assert change > 0.2
    assert abs(control) < change


def test_a_failure_in_a_late_round_is_named_with_its_round(folders: Path) -> None:
    # given a head that fails in its third process: the probe is its first
    found = timed(folders, "linear", "fails_in_its_third_process", pairs=3)
    assert found["failure"] is not None
    assert (found["failure"]["side"], found["failure"]["round"]) == ("head", 2)
    assert found["failure"]["failure"]["message"] == "the third time is one too many"
    assert found["failure"]["failure"]["stage"] == "benchmark"
    assert len(found["rounds"]) == 1


@pytest.mark.parametrize(
    ("head", "check", "verdict", "message"),
    [
        ("wider", OutputCheck(rtol=1e-4), "failed", "output: shape [2, 8] on base, [2, 9] on head"),
        ("linear", OutputCheck(callable="models.py:same_outputs"), "passed", ""),
        ("linear", OutputCheck(callable="models.py:no_outputs"), "failed", "the check raised AttributeError"),
    ],
)
def test_outputs_are_held_against_each_other(
    folders: Path, head: str, check: OutputCheck, verdict: str, message: str
) -> None:
    # given a head that would bring a check of its own
    (folders / "head" / "models.py").write_text(MODELS.replace("base.nothing", "True"))
    found = timed(folders, "linear", head, metrics=("peak_memory",), output_check=check)
    assert found["output_check"]["verdict"] == verdict
    assert found["output_check"]["message"].startswith(message)
    assert found["head"] is not None
    assert len({peak["peak_bytes"] for peak in found["head"]["memory"]}) == 1


def test_models_that_do_not_fit_together_run_one_after_the_other(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockstep, "available_bytes", lambda: 0)
    found = timed(folders, "linear", "linear")
    assert found["mode"] == "alternating"
    assert [letter for letter, _ in groupby(found["rounds"][0]["order"])] in (["A", "B"], ["B", "A"])


def test_a_target_that_is_new_runs_against_itself(folders: Path) -> None:
    found = timed(folders, None, "linear")
    assert found["base"] is None
    assert found["head"] is not None
    assert len(found["head"]["first_call_seconds"]) == 2 * len(found["rounds"])


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
                python=sys.executable,
                environment=child._interpreters["head"].environment,
                timeout_seconds=timeout_seconds,
                memory_bytes=memory_bytes,
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
