"""A target that fails late keeps what was measured before, on both sides; the blame is the failed side's."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from support import lockstep_models, measuring
from support.lockstep_models import spec

from ci_action.core.config.entries import Benchmark, OutputCheck
from ci_action.core.timing.evidence import BenchmarkEvidence
from ci_action.core.timing.lockstep import BenchmarkJob
from ci_action.edges.workers.place import ChildLimits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a worker is spoken to over inherited descriptors")

MODELS = dedent("""
    import os, signal, sys, time
    import torch
    from torch import nn
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    def fails():
        raise RuntimeError("too late")
    def exits(): sys.exit(3)
    def ends(): os._exit(4)
    def killed(): os.kill(os.getpid(), signal.SIGKILL)
    def hangs(): time.sleep(600)
    def removes():
        import shutil
        shutil.rmtree(os.getcwd())
    kept = []
    def grows():
        while True: kept.append(bytearray(b"x" * (100 << 20)))
    def nonsense():
        for descriptor in range(3, 30):
            try: os.write(descriptor, b'{"seconds": -5.0}\\n')
            except OSError: pass

    def net(process, call, act):
        '''A model whose process of that number (1 is the probe) acts in the call of that number.'''
        with open("processes.log", "a") as log: log.write("x")
        is_it = os.path.getsize("processes.log") == process
        class Net(nn.Linear):
            calls = peaks = 0
            def forward(self, x):
                Net.calls += 1
                Net.peaks += _get_current_dispatch_mode() is not None
                if is_it and (Net.peaks == 2 if call == "second peak" else Net.calls == call):
                    act()
                return super().forward(x)
        return Net(8, 8), (torch.ones(2, 8),)

    def sound(): return net(0, 0, None)
""")
METRICS = ("latency", "peak_memory", "process_peak_rss")


def sides(tmp_path: Path, **factories: str) -> Path:
    for side in ("base", "head"):
        (tmp_path / side).mkdir()
        body = factories.get(side, "sound()")
        (tmp_path / side / "models.py").write_text(f"{MODELS}\ndef target(): return {body}\n")
    return tmp_path


def timed(folders: Path, **benchmark: Any) -> BenchmarkEvidence:
    job = BenchmarkJob(
        id="net",
        base=spec(folders, "base", "target"),
        head=spec(folders, "head", "target"),
        benchmark=Benchmark(**{"metrics": METRICS, "pairs": 3, **benchmark}),
        needs_control=False,
        budget_seconds=None,
    )
    limits = ChildLimits(timeout_seconds=25, memory_bytes=1500 << 20)
    return measuring.measurer(folders, limits=limits).benchmark([job])["net"]


def kept(found: BenchmarkEvidence) -> dict[str, Any]:
    """How much of each kind is there: memory readings, rounds, and children whose resident memory was read."""
    measured: dict[str, Any] = {"rounds": len(found["rounds"])}
    for side in ("base", "head"):
        own = found[side]  # type: ignore[literal-required]
        measured[side] = (len(own["memory"]), len(own["rss_bytes"])) if own else None
    return measured


@pytest.mark.parametrize(
    ("side", "body", "kind", "rounds", "failed_side", "other_side"),
    [
        ("head", "net(1, 1, fails)", "RuntimeError", 0, None, (2, 0)),
        ("base", "net(1, 1, fails)", "RuntimeError", 0, None, (2, 0)),
        ("head", 'net(1, "second peak", ends)', "WorkerDied", 0, (1, 0), (2, 0)),
        ("base", 'net(1, "second peak", exits)', "SystemExit", 0, (1, 0), (2, 0)),
        ("head", "net(2, 60, fails)", "RuntimeError", 0, (2, 0), (2, 0)),
        ("base", "net(3, 60, killed)", "WorkerKilled", 1, (2, 1), (2, 1)),
        ("head", "net(3, 60, nonsense)", "MalformedResult", 1, (2, 1), (2, 1)),
        ("base", "net(3, 60, nonsense)", "MalformedResult", 1, (2, 1), (2, 1)),
        ("head", "net(3, 60, hangs)", "Timeout", 1, (2, 1), (2, 1)),
        ("base", "net(3, 60, grows)", "MemoryLimit", 1, (2, 1), (2, 1)),
        ("head", "net(3, 60, removes)", "OSError", 2, (2, 2), (2, 2)),
    ],
)
def test_a_late_failure_loses_nothing_and_is_its_own_sides(
    tmp_path: Path, side: str, body: str, kind: str, rounds: int, failed_side: Any, other_side: Any
) -> None:
    found = timed(sides(tmp_path, **{side: body}))
    assert found["failure"] is not None
    assert (found["failure"]["side"], found["failure"]["failure"]["type"]) == (side, kind)
    other = "head" if side == "base" else "base"
    assert kept(found) == {"rounds": rounds, side: failed_side, other: other_side}


def test_where_both_sides_fail_both_are_told(tmp_path: Path) -> None:
    found = timed(sides(tmp_path, base="net(1, 1, fails)", head="net(1, 1, exits)"))
    assert found["failure"] is not None
    assert found["failure"]["side"] == "base"
    assert found["notes"] == ["head failed as well: SystemExit: the code called exit(3)"]


def test_a_check_of_outputs_that_dies_leaves_the_numbers(tmp_path: Path) -> None:
    folders = sides(tmp_path)
    with (folders / "base" / "models.py").open("a") as file:
        file.write("def check(base, head): killed()\n")
    found = timed(folders, metrics=("peak_memory",), output_check=OutputCheck(callable="models.py:check"))
    assert found["failure"] is None
    assert found["output_check"]["verdict"] == "failed"
    assert "killed by SIGKILL" in found["output_check"]["message"]
    assert kept(found) == {"rounds": 0, "base": (2, 0), "head": (2, 0)}


def test_evidence_is_told_as_each_target_ends(tmp_path: Path) -> None:
    folders = sides(tmp_path)
    told: list[str] = []
    jobs = [
        BenchmarkJob(
            id=identity,
            base=None,
            head=lockstep_models.spec(folders, "head", "target"),
            benchmark=Benchmark(metrics=("peak_memory",)),
            needs_control=False,
            budget_seconds=None,
        )
        for identity in ("a", "b")
    ]

    def tell(evidence: BenchmarkEvidence) -> None:
        told.append(evidence["id"])
        if evidence["id"] == "a":
            raise KeyboardInterrupt  # as a cancelled job

    child = measuring.measurer(folders, on_benchmark=tell)
    with pytest.raises(KeyboardInterrupt):
        child.benchmark(jobs)
    assert told == ["a"]
