"""What measured code leaves behind or sets up for its end changes no result that is there, and holds up no run."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from textwrap import dedent

import psutil
import pytest
from support import lockstep_models
from support.lockstep_models import two_sides
from support.measuring import measured, spec

from ci_action.core.config.entries import Benchmark, OutputCheck
from ci_action.core.timing.lockstep import BenchmarkJob
from ci_action.edges.workers import side_run
from ci_action.edges.workers.place import ChildLimits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and forks")

LEFT = dedent("""
    import atexit, os, signal, subprocess, sys, threading, time
    import torch
    from torch import nn

    def plain():
        return nn.Linear(4, 3), (torch.zeros(2, 4),)

    def after(seconds, act):
        threading.Thread(target=lambda: (time.sleep(seconds), act())).start()

    def a_thread():
        after(3600, print)
        return plain()

    def a_child():
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        open("PIDS", "a").write(f"{child.pid}\\n")
        return plain()

    def a_fork():
        pid = os.fork()
        if not pid: time.sleep(3600)
        open("PIDS", "a").write(f"{pid}\\n")
        return plain()

    def a_daemon():
        child = os.fork()
        if not child:
            os.setsid()
            if os.fork(): os._exit(0)
            open("PIDS", "a").write(f"{os.getpid()}\\n")
            time.sleep(3600)
        os.waitpid(child, 0)
        time.sleep(0.3)
        return plain()

    def an_exit_handler_that_blocks():
        atexit.register(time.sleep, 3600)
        return plain()

    def an_exit_handler_that_fails():
        def fails(): raise RuntimeError("at the end")
        atexit.register(fails)
        return plain()

    def an_exit_handler_that_exits():
        atexit.register(os._exit, 1)
        return plain()

    def signal_handlers():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, lambda *_: time.sleep(3600))
        return plain()

    def a_thread_that_exits_later():
        after(1.5, lambda: os._exit(5))
        return plain()

    def a_thread_that_grows_later():
        kept = []
        after(1.0, lambda: kept.append(bytearray(b"x" * (900 << 20))))
        after(3600, print)
        return plain()

    def no_exit():
        os._exit = sys.exit = lambda *_: None
        after(3600, print)
        return plain()

    def everything():
        a_thread(), a_fork(), an_exit_handler_that_blocks(), an_exit_handler_that_exits(), signal_handlers()
        return plain()

    def same(base, head):
        after(3600, print), atexit.register(os._exit, 1)
        return bool((base == head).all())
""")
KINDS = (
    *("a_thread", "a_child", "a_fork", "a_daemon"),
    *("an_exit_handler_that_blocks", "an_exit_handler_that_fails", "an_exit_handler_that_exits"),
    *("signal_handlers", "a_thread_that_exits_later", "a_thread_that_grows_later", "no_exit"),
)
LIMITS = ChildLimits(timeout_seconds=60, memory_bytes=900 << 20)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    (folder / "bench").mkdir(parents=True)
    (folder / "bench" / "models.py").write_text(LEFT.replace("PIDS", str(tmp_path / "pids")))
    return folder


def test_what_a_target_leaves_behind_holds_up_neither_its_result_nor_the_next_one(root: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    results = measured(tmp_path, spec(root, *KINDS, "plain", KINDS[0]), limits=LIMITS)
    assert [result["id"] for result in results if result["failure"]] == []
    assert len(results) == len(KINDS) + 2
    assert time.monotonic() - began < 100  # nobody has waited for a timeout, let alone for an hour
    left = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(left) == 3
    assert not [pid for pid in left if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]


@pytest.mark.parametrize("last", ["a_thread", "a_thread_that_exits_later", "an_exit_handler_that_exits"])
def test_where_nothing_is_forked_the_same_holds(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    monkeypatch.setattr(side_run, "CAN_FORK", False)
    results = measured(tmp_path, spec(root, last, "plain"), limits=LIMITS)
    assert [result["failure"] for result in results] == [None, None]


DIES = """
    import ctypes, os, signal, time
    import torch
    from torch import nn
    def plain(): return nn.Linear(4, 3), (torch.zeros(2, 4),)
    def ends_its_parent():
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    def ends_its_parent_and_lives():
        ctypes.CDLL(None).prctl(1, 0)
        os.kill(os.getppid(), signal.SIGKILL)
        child = os.fork()
        open({pids!r}, "a").write(f"{{os.getpid()}}\\n")
        time.sleep(60)
    def stops_its_parent():
        os.kill(os.getppid(), signal.SIGSTOP)
        return plain()
    def ends_its_group():
        os.killpg(0, signal.SIGKILL)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="targets are forked on Linux alone")
def test_a_death_of_the_parent_is_the_targets_own_and_all_others_are_measured(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ci_action.edges.workers.target_process.REAP_SECONDS", 1.0)
    (root / "bench" / "models.py").write_text(dedent(DIES).format(pids=str(tmp_path / "pids")))
    names = ("plain", "ends_its_parent", "ends_its_parent_and_lives", "stops_its_parent", "ends_its_group", "plain")
    results = measured(tmp_path, spec(root, *names), limits=ChildLimits(timeout_seconds=60))
    failed = [result["id"] for result in results if result["failure"]]
    assert failed == ["ends_its_parent", "ends_its_parent_and_lives", "ends_its_group"]
    assert [result["id"] for result in results] == list(names)
    assert all(result["failure"]["stage"] == "worker" for result in results if result["failure"])
    left = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert not [pid for pid in left if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]


def test_a_target_that_removes_what_the_next_one_needs_costs_its_own_side_alone(root: Path, tmp_path: Path) -> None:
    (root / "bench" / "models.py").write_text(
        dedent("""
        import os, shutil, torch
        def plain(): return torch.nn.Linear(4, 3), (torch.zeros(2, 4),)
        def removes():
            shutil.rmtree(os.getcwd())
            os.kill(os.getppid(), 9)
    """)
    )
    results = measured(tmp_path, spec(root, "plain", "removes", "plain", "plain"))
    assert [bool(result["failure"]) for result in results] == [False, True, True, True]
    assert results[2]["failure"] is not None
    assert results[2]["failure"]["message"].startswith("its process could not be started: ")


def test_a_timing_and_its_output_check_need_no_worker_that_ends_by_itself(tmp_path: Path) -> None:
    # given both sides and base's own check with threads, children and exit handlers
    folders = two_sides(tmp_path)
    for side in ("base", "head"):
        (folders / side / "left.py").write_text(LEFT.replace("PIDS", str(tmp_path / "pids")))
    base, head = (lockstep_models.spec(folders, side, "x") for side in ("base", "head"))
    for one in (base, head):
        one["targets"][0]["factory"] = "left.py:everything"
    benchmark = Benchmark(
        metrics=("latency", "peak_memory", "process_peak_rss"),
        pairs=1,
        output_check=OutputCheck(callable="left.py:same"),
    )
    job = BenchmarkJob(id="net", base=base, head=head, benchmark=benchmark, needs_control=False, budget_seconds=None)
    # when they are timed
    found = lockstep_models.measurer(folders).benchmark([job])["net"]
    # then all of it counts
    assert found["failure"] is None
    assert found["output_check"]["verdict"] == "passed"
    assert len(found["rounds"]) == 1
    left = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(left) == 4
    assert not [pid for pid in left if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
