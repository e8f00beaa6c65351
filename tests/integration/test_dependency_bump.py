"""A pull request that changes nothing but what is installed: one environment for both sides cannot measure that."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from support.git_repositories import make_repo

from ci_action.main import main

CONFIG = 'schema-version = 1\ntargets = [{id = "net", factory = "models.py:net"}]\n'
PROJECT = '[project]\nname = "x"\ndependencies = ["tinydep==1.0"]\n'
MODELS = "import torch\ndef net():\n    return torch.nn.Linear(8, 8), (torch.zeros(1, 8),)\n"


def test_the_run_names_the_file_and_does_not_say_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    repo = make_repo(tmp_path / "repo")
    lists = {"requirements.txt": "tinydep==1.0\n", "pyproject.toml": PROJECT}
    repo.commit({"torchscan.toml": CONFIG, "models.py": MODELS, **lists}, "base")
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({name: text.replace("1.0", "2.0") for name, text in lists.items()}, "bump")
    place = ["--directory", str(repo.path), "--out", str(tmp_path / "out"), "--python", sys.executable]
    assert main(["run", "--base", "main", *place]) == 0
    said = capsys.readouterr().out
    assert "Dependencies not measured: pyproject.toml and 1 more; 1 of 1 target otherwise equal. Gate not set" in said
    assert "the effect of pyproject.toml and requirements.txt is not in these numbers" in said
    assert "No change" not in said
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    assert document["changed_dependencies"] == ["pyproject.toml", "requirements.txt"]
    assert "requirements.txt is not in these numbers" in (tmp_path / "out" / "index.html").read_text()
