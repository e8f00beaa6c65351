"""Instructions under callgrind: a count that repeats, one that grows with the work, and every way not to have one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from support.components import in_ci

from ci_action.core.config.entries import Benchmark
from ci_action.core.spec import WorkerSpec
from ci_action.core.timing.evidence import BenchmarkEvidence
from ci_action.core.timing.evidence_file import read_evidence
from ci_action.core.timing.instructions import instruction_total
from ci_action.core.timing.lockstep import BenchmarkJob
from ci_action.edges.workers.child import ChildMeasurer
from ci_action.edges.workers.environment import worker_environment
from ci_action.edges.workers.instructions import count_instructions
from ci_action.edges.workers.place import ChildLimits, WorkerPlace
from ci_action.worker.callgrind import NoRequests, attach

VALGRIND = Path("/usr/bin/valgrind")
# In CI its absence is a failure, as that of every other program that the tests drive.
needs_valgrind = pytest.mark.skipif(not VALGRIND.exists() and not in_ci(), reason="valgrind is not installed")
pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="its requests are known on x86-64 alone")

COUNT = dedent("""
    import json, sys
    from pathlib import Path
    from ci_action.worker.callgrind import attach

    callgrind = attach(Path(sys.argv[1]))
    counts = [callgrind.count(lambda: [None for _ in range(loops)], 3) for loops in map(int, sys.argv[2:])]
    print(json.dumps(counts))
""")

MODELS = dedent("""
    def loops(count):
        def workload():
            for _ in range(count):
                pass
        return {"workload": workload}

    def short(): return loops(40_000)
    def long(): return loops(44_000)
""")


def test_outside_valgrind_there_is_no_count(tmp_path: Path) -> None:
    with pytest.raises(NoRequests, match="does not run under valgrind"):
        attach(tmp_path)


@needs_valgrind
def test_the_same_work_has_the_same_count_and_more_work_a_greater_one(tmp_path: Path) -> None:
    # given loops of n, n and 2n steps, where the call itself takes next to nothing
    environ = worker_environment(os.environ, (), str(Path.cwd()))
    counted = subprocess.run(
        [
            *(VALGRIND, "--tool=callgrind", "--quiet", "--instr-atstart=no", "--collect-atstart=no"),
            *("--trace-children=yes", f"--callgrind-out-file={tmp_path}/%p", sys.executable, "-c", COUNT),
            *(tmp_path, "20000", "20000", "40000"),
        ],
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    )
    # when each is counted three times
    first, again, double = json.loads(counted.stdout)
    # then equal code agrees within the floor of the metric, and twice the work is twice the count
    middle = sorted(first)[1]
    assert all(abs(count - middle) < 0.005 * middle for count in (*first, *again))
    assert sorted(double)[1] / middle == pytest.approx(2, rel=0.01)


def counted(tmp_path: Path, head: str, *, path: str) -> BenchmarkEvidence:
    for side in ("base", "head", "scratch"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "models.py").write_text(MODELS)
    job = BenchmarkJob(
        id="net",
        base=spec(tmp_path, "base", "short"),
        head=spec(tmp_path, "head", head),
        benchmark=Benchmark(metrics=("instructions",)),
        needs_control=False,
        budget_seconds=None,
    )
    environ = {**os.environ, "PATH": path}
    measurer = ChildMeasurer(python=sys.executable, scratch=tmp_path / "scratch", environ=environ)
    return read_evidence(json.loads(json.dumps(measurer.benchmark([job])["net"])))


def spec(tmp_path: Path, side: Any, factory: str, device: str = "cpu") -> WorkerSpec:
    root = str(tmp_path / side)
    return {
        "version": 1,
        "side": side,
        "root": root,
        "worktree": root,
        "checkout": str(tmp_path / "checkout"),
        "import_paths": ["."],
        "out": "",
        "seed": 0,
        "threads": None,
        "targets": [
            {"index": 0, "id": "net", "factory": f"models.py:{factory}", "analysis": "off", "device": device},
        ],
    }


def instructions(found: BenchmarkEvidence) -> list[Any]:
    return [found[side]["instructions"] for side in ("base", "head")]  # type: ignore[literal-required]


def test_without_valgrind_the_count_is_missing_and_nothing_fails(tmp_path: Path) -> None:
    found = counted(tmp_path, "long", path=str(tmp_path))
    assert found["failure"] is None
    assert instructions(found) == [{"counts": [], "gap": "no_valgrind"}] * 2


@pytest.mark.parametrize("devices", [("cuda", "cuda"), ("cpu", "cuda")])
def test_on_another_device_no_instructions_are_counted(tmp_path: Path, devices: tuple[str, str]) -> None:
    # given a place that has no interpreters: nothing may start
    place = WorkerPlace(interpreters={}, scratch=tmp_path, limits=ChildLimits())
    specs = [spec(tmp_path, side, "short", device) for side, device in zip(("base", "head"), devices, strict=True)]
    # when they are to be counted
    found = count_instructions(specs, place, notes := [], together=True)
    # then both sides have the reason: one count alone compares with nothing
    assert found == {side: {"counts": [], "gap": "not_on_cpu"} for side in ("base", "head")}
    assert notes == []
    assert instruction_total(found["head"])["status"] == "unavailable"


def test_a_valgrind_that_cannot_be_spoken_to_is_named(tmp_path: Path) -> None:
    # given a "valgrind" that drops its own options and runs the program on the real processor
    stand_in = tmp_path / "valgrind"
    stand_in.write_text('#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n')
    stand_in.chmod(0o755)
    found = counted(tmp_path, "long", path=f"{tmp_path}:{os.environ['PATH']}")
    assert instructions(found) == [{"counts": [], "gap": "no_requests"}] * 2
    assert "counted on one thread" in found["notes"][0]
    assert "this process does not run under valgrind" in found["notes"][1]
    assert not list((tmp_path / "scratch").glob("callgrind-*"))


@needs_valgrind
@pytest.mark.slow
def test_ten_percent_more_work_is_ten_percent_more_instructions(tmp_path: Path) -> None:
    found = counted(tmp_path, "long", path=os.environ["PATH"])
    base, head = instructions(found)
    assert (base["gap"], head["gap"], len(base["counts"])) == ("", "", 3)
    assert sorted(head["counts"])[1] / sorted(base["counts"])[1] == pytest.approx(1.1, rel=0.005)
