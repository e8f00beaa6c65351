"""Head's code against base, as the same user at the same time: what it can do is never a pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.git_repositories import make_repo

from ci_action.main import main

CONFIG = """
schema-version = 1
limits = [{metric = "peak_memory", max-increase = "0%"}, {metric = "operator_macs", max-increase = "5%"}]
[[targets]]
id = "net"
factory = "models.py:net"
[targets.benchmark]
metrics = ["peak_memory"]
"""
HONEST = """
import torch
class Net(torch.nn.Linear):
    def forward(self, x):
        act()
        return super().forward(x)
def act(): pass
def net(): return Net(8, WIDTH), (torch.zeros(1, 8),)
"""
KILLS = """
import os, signal
def act():
    for entry in os.listdir("/proc"):
        try:
            line = open(f"/proc/{entry}/cmdline").read()
            if "ci_action.worker.lockstep" in line and int(entry) not in (os.getpid(), os.getppid()):
                os.kill(int(entry), signal.SIGKILL)
        except (OSError, ValueError):
            pass
"""
EDITS = """
import glob, os
def act():
    for file in glob.glob(os.path.join(os.path.dirname(os.getcwd()), "torchscan-base-*", "models.py")):
        text = open(file).read()
        if "sleep" not in text:
            open(file, "a").write("import time; time.sleep(0.01)")
"""
OVERWRITES = """
import glob, os
for file in glob.glob(os.path.join(os.path.dirname(os.getcwd()), "**", "result.json"), recursive=True):
    open(file, "w").write("{}")
def act(): pass
"""


def ran(folder: Path, payload: str, *, width: int = 8, config: str = CONFIG) -> tuple[int, dict[str, Any]]:
    repo = make_repo(folder / "repo")
    repo.commit({"torchscan.toml": config, "models.py": HONEST.replace("WIDTH", "8")}, "base")
    repo.commit({"models.py": HONEST.replace("WIDTH", str(width)).replace("def act(): pass", payload)}, "head")
    code = main(["run", "--directory", str(repo.path), "--base", "HEAD~1", "--out", str(folder / "out"), "--quiet"])
    return code, json.loads((folder / "out" / "result.json").read_text())


def row(document: dict[str, Any], metric: str) -> dict[str, Any]:
    (found,) = (one for one in document["targets"][0]["rows"] if one["metric"] == metric)
    return dict(found)


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


def test_a_base_that_head_kills_is_unknown_and_no_missing_base(tmp_path: Path) -> None:
    # given a metric for which both sides' processes are alive at once
    code, document = ran(tmp_path, KILLS, config=CONFIG.replace("peak_memory", "latency").replace('"0%"', '"50%"'))
    assert [(one["side"], one["type"]) for one in document["targets"][0]["failures"]] == [("base", "WorkerKilled")]
    assert (code, row(document, "latency")["gate"]) == (3, "unknown")  # on-missing-base would warn, and pass


def test_base_is_not_measured_from_a_worktree_that_head_edited(tmp_path: Path) -> None:
    code, document = ran(tmp_path, EDITS)
    assert [(one["side"], one["type"]) for one in document["targets"][0]["failures"]] == [("base", "TreeChanged")]
    assert code != 0


def test_bases_results_are_read_before_any_code_of_head_runs(tmp_path: Path) -> None:
    code, document = ran(tmp_path, OVERWRITES, width=12)
    assert row(document, "operator_macs")["base"]["value"] == 64
    assert row(document, "operator_macs")["word"] == "regressed"
    assert code == 1
