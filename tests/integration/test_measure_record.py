"""What `torchscan-ci measure` has measured is in the folder at once, and is what the workers said at the time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import psutil
import pytest
from support.git_repositories import Repo, make_repo
from support.stages import stage, stages

from ci_action.edges.evidence_folder import EvidenceRecord, read_benchmarks, read_results
from ci_action.edges.outputs import FolderSink
from ci_action.main import main

CONFIG = 'schema-version = 1\n[[limits]]\nmetric = "operator_macs"\nmax-increase = "5%"\n' + "".join(
    f'[[targets]]\nid = "{name}"\nfactory = "models.py:{name}"\n' for name in ("quick", "slow")
)
MODELS = dedent("""
    import os, time, torch
    def quick(): return torch.nn.Linear(8, 8), (torch.zeros(1, 8),)
    def slow():
        open("PIDS", "a").write(f"{os.getpid()}\\n")
        time.sleep(SECONDS)
        return quick()
""")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return make_repo(tmp_path / "repo")


def event(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The environment of a pull request whose merge commit is checked out."""
    pull = {
        "number": 7,
        "head": {"sha": repo.git("rev-parse", "feature"), "ref": "feature", "repo": {"full_name": "o/r"}},
        "base": {"sha": repo.git("rev-parse", "main"), "ref": "main", "repo": {"full_name": "o/r"}},
    }
    repo.git("checkout", "--quiet", "--detach", "main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "feature")
    payload = {"number": 7, "pull_request": pull, "repository": {"default_branch": "main"}}
    (tmp_path / "event.json").write_text(json.dumps(payload))
    (tmp_path / "temp").mkdir()
    environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(repo.path),
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_SHA": repo.git("rev-parse", "HEAD"),
        "GITHUB_RUN_ID": "1",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "TORCHSCAN_PYTHON": sys.executable,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return str(tmp_path / "report")


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_measured_outlives_the_run_and_no_gate_passes(
    repo: Repo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # given a run whose second target takes an hour
    pids = tmp_path / "pids"
    repo.commit(
        {"torchscan.toml": CONFIG, "models.py": MODELS.replace("SECONDS", "3600").replace("PIDS", str(pids))}, "b"
    )
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({"readme": "x"}, "head")
    out = event(repo, tmp_path, monkeypatch)
    assert stage("plan", out) == 0
    running = subprocess.Popen([sys.executable, "-m", "ci_action", "measure", "--out", out])
    until = time.monotonic() + 120
    while not (pids.exists() and pids.read_text().split()) and time.monotonic() < until:
        time.sleep(0.05)
    # when it is ended
    running.send_signal(number)
    assert running.wait(timeout=60) == (130 if number == signal.SIGTERM else -number)
    # then the first target of base is there, the second has left no result, and nothing of head has begun
    (result,) = read_results(Path(out), "base")
    assert (result["id"], result["failure"]) == ("quick", None)
    assert read_results(Path(out), "head") == []
    assert read_benchmarks(Path(out)) == {}
    monkeypatch.delenv("GITHUB_ACTIONS")  # on a runner nothing follows a step that was ended
    assert main(["publish", "--out", out]) == 0
    assert json.loads((Path(out) / "evidence" / "gate.json").read_text())["exit_code"] != 0
    assert "the worker left no result" in capsys.readouterr().out
    # and nobody is left behind
    while any(map(psutil.pid_exists, map(int, pids.read_text().split()))) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in pids.read_text().split() if psutil.pid_exists(int(pid))]


def test_measured_code_cannot_change_what_was_measured_before_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a head whose second target rewrites the first one's files and base's
    quick = MODELS.replace("SECONDS", "0").replace("PIDS", os.devnull)
    repo.commit({"torchscan.toml": CONFIG, "models.py": quick}, "base")
    repo.git("checkout", "--quiet", "-b", "feature")
    folder = tmp_path / "report" / "evidence"
    rewrites = dedent(f"""
        import glob, shutil, time
        def slow():
            until = time.time() + 30
            while not all(map(os.path.exists, {[str(folder / f"{name}.json") for name in ("base-1", "head-0")]})):
                if time.time() > until: break
                time.sleep(0.02)
            for name in glob.glob({str(folder)!r} + "/*-*.json"):
                text = open(name).read().replace('"value": 64', '"value": 1')
                os.remove(name)
                open(name, "w").write(text)
            open({str(folder / "base.json")!r}, "w").write('{{"version": 1, "files": 0}}')
            return quick()
    """)
    repo.commit({"models.py": quick + rewrites}, "head")
    out = event(repo, tmp_path, monkeypatch)
    # when it is measured
    assert stages(("plan", "measure"), out) == [0, 0]
    # then the files say what the workers said
    for side in ("base", "head"):
        results = read_results(Path(out), side)  # type: ignore[arg-type]
        assert [result["id"] for result in results] == ["quick", "slow"]
        reports = [result["report"] for result in results]
        assert [report["totals"]["operator_macs"]["value"] for report in reports if report] == [64, 64]


def test_a_folder_that_is_taken_away_meanwhile_costs_nothing(tmp_path: Path) -> None:
    record = EvidenceRecord(FolderSink(tmp_path))
    for path in (tmp_path / "evidence").iterdir():
        path.unlink()
    (tmp_path / "evidence").rmdir()
    (tmp_path / "evidence").write_text("in the way")
    result = {"version": 1, "id": "a", "side": "head", "report": None, "failure": None, "seconds": 0.0}
    record.add_result(result)  # type: ignore[arg-type]
    (tmp_path / "evidence").unlink()
    record.write()
    assert read_results(tmp_path, "head") == [result]
