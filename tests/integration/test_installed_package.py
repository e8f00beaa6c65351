"""The everyday job: ``pip install .`` of head, then both sides. Base is measured with its own code, or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
from support.git_repositories import Repo, make_repo

from ci_action.main import main

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "zoo"
version = "1.0"
[tool.setuptools.packages.find]
where = ["python"]
"""
NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Conv2d(3, width, 3)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own that sees the torch and the pip of the tests."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=False, symlinks=True)
    hosts = [path for path in sys.path if path.endswith("site-packages")]
    site = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    Path(site, "host.pth").write_text("\n".join(hosts))
    return folder / "bin" / "python"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Main has what ``init`` wrote; the feature doubles the width. The feature is checked out, as in Actions."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_", "PIP_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    made = make_repo(tmp_path / "repo")
    made.commit({"pyproject.toml": PROJECT, "python/zoo/__init__.py": "", "python/zoo/net.py": NET}, "base")
    assert main(["init", "--directory", str(made.path)]) == 0
    made.commit({}, "init")
    made.git("checkout", "--quiet", "-b", "feature")
    made.commit({"python/zoo/net.py": NET.replace("width=4", "width=8")}, "twice as wide")
    return made


def run(repo: Repo, python: Path, *pip: str) -> tuple[int, Any]:
    """Install as the written workflow does, and run the job."""
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--force-reinstall"]
    subprocess.run([python, "-m", "pip", "install", *options, *pip], cwd=repo.path, check=True)
    out = repo.path.parent / "out"
    place = ["--directory", str(repo.path), "--out", str(out), "--python", str(python)]
    code = main(["run", "--base", "main", *place])
    return code, json.loads((out / "result.json").read_text())["targets"][0]


def test_what_init_wrote_measures_both_sides(repo: Repo, python: Path) -> None:
    code, target = run(repo, python, ".")
    assert (code, target["failures"]) == (1, [])
    (macs,) = [row for row in target["rows"] if row["metric"] == "operator_macs"]
    assert macs["head"]["value"] == 2 * macs["base"]["value"]


@pytest.mark.parametrize("pip", [["."], ["-e", "."]])
def test_without_import_paths_base_is_not_measured_and_head_is(
    repo: Repo, python: Path, pip: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    config = (repo.path / "torchscan.toml").read_text()
    repo.git("checkout", "--quiet", "main")
    repo.commit({"torchscan.toml": config.replace("import-paths", "# import-paths")}, "without")
    repo.git("checkout", "--quiet", "feature")
    repo.git("merge", "--quiet", "--no-edit", "main")
    code, target = run(repo, python, *pip)
    (failure,) = target["failures"]
    assert (failure["side"], failure["stage"]) == ("base", "isolation")
    assert "add 'python' to import-paths" in failure["message"]
    said = capsys.readouterr().out
    assert code == 0  # what base cannot show is a warning, unless the owner's limit says more
    assert "Gate not judged" in said
    assert "No change" not in said
