"""Real workers in lockstep: both alive at once, block by block."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

import pytest
from support.lockstep_models import MODELS, timed, two_sides

from ci_action.core.config.entries import OutputCheck
from ci_action.core.timing.rounds import log_ratios
from ci_action.edges.workers import lockstep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a worker is spoken to over inherited descriptors")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    return two_sides(tmp_path)


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
