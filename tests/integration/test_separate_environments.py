"""environment = "separate" with real virtual environments: each side runs in its own, apart from the other."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from support.git_repositories import Repo, make_repo

from ci_action.main import main

HOST = sysconfig.get_paths()["purelib"]
INSTALL = """
import pathlib, sysconfig
pathlib.Path(sysconfig.get_paths()["purelib"], "host.pth").write_text({host!r})
pathlib.Path("installed").write_text(pathlib.Path("models.py").read_text()[-3:])
"""
MODELS = """
import json, os, pathlib, sys, tempfile
import torch

def net():
    kept = pathlib.Path(os.environ["HOME"], "kept")
    seen = {"prefix": sys.prefix, "found": kept.exists(), "tmp": tempfile.gettempdir()}
    seen |= {name: os.environ[name] for name in ("HOME", "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")}
    kept.write_text("by this side")
    pathlib.Path(RECORDS, pathlib.Path("installed").read_text().strip(" #\\n") + ".json").write_text(json.dumps(seen))
    return torch.nn.Linear(8, 8), (torch.zeros(1, 8),)
"""


def config(*install: str) -> str:
    words = ", ".join(json.dumps(word) for word in install)
    return f"""
schema-version = 1
environment = "separate"
install = [{words}]
targets = [{{id = "net", factory = "models.py:net"}}]
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Head adds nothing but a comment; both install a link to the torch that the tests have."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    records = tmp_path / "records"
    records.mkdir()
    models = MODELS.replace("RECORDS", repr(str(records)))
    made = make_repo(tmp_path / "repo")
    files = {"torchscan.toml": config("python", "install.py"), "install.py": INSTALL.format(host=HOST)}
    made.commit({**files, "models.py": f"{models}#b\n"}, "base")
    made.git("checkout", "--quiet", "-b", "feature")
    made.commit({"models.py": f"{models}#h\n"}, "head")
    return made


def run(repo: Repo, tmp_path: Path) -> int:
    place = ["--directory", str(repo.path), "--out", str(tmp_path / "out"), "--python", sys.executable]
    return main(["run", "--base", "main", *place])


def document(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "out" / "result.json").read_text())


def test_each_side_has_its_own_interpreter_home_temporary_folder_and_caches(repo: Repo, tmp_path: Path) -> None:
    assert run(repo, tmp_path) == 0
    base, head = (json.loads((tmp_path / "records" / f"{side}.json").read_text()) for side in "bh")
    assert not {name for name in base if name != "found" and base[name] == head[name]}
    assert (base["found"], head["found"]) == (False, False)
    assert base["prefix"] != sys.prefix
    assert not Path(base["HOME"]).exists()  # gone with the run
    assert {row["word"] for row in document(tmp_path)["targets"][0]["rows"]} == {"unchanged"}


def test_an_install_that_fails_on_head_leaves_bases_numbers_and_names_the_command(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit({"install.py": "raise SystemExit('no such wheel')\n"}, "broken")
    assert run(repo, tmp_path) == 3
    (failed,) = document(tmp_path)["targets"][0]["failures"]
    assert (failed["side"], failed["stage"], failed["type"]) == ("head", "environment", "InstallFailed")
    assert failed["message"] == "head: `python install.py` failed: no such wheel"
    assert any(row["base"] for row in document(tmp_path)["targets"][0]["rows"])


def test_a_command_in_one_word_is_explained(repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo.git("checkout", "--quiet", "main")
    repo.commit({"torchscan.toml": config("python install.py")}, "one word")
    repo.git("checkout", "--quiet", "-B", "feature")
    repo.commit({"readme": "x"}, "head")
    assert run(repo, tmp_path) == 3
    assert "give each word of install as an item of the list" in capsys.readouterr().err
