"""``init`` in repositories of several kinds: what it writes is right as it stands, what is there stays."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from support.components import REPOSITORY
from support.git_repositories import Repo, make_repo

from ci_action.core.config.starter import WORKFLOWS, Survey, recommended, starter_workflow
from ci_action.edges.survey import survey
from ci_action.main import main
from torchscan.render.templates import source

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Conv2d(3, width, 3)

    def forward(self, x):
        return self.layer(x)


class NeedsArguments(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return x


class _Private(nn.Module):
    def forward(self, x):
        return x


class NoForward(nn.Module):
    pass
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    made = make_repo(tmp_path / "repo")
    made.commit({"readme": "x"}, "first")
    return made


def put(repo: Repo, name: str, text: str) -> None:
    path = repo.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def init(repo: Repo, *arguments: str) -> int:
    return main(["init", "--directory", str(repo.path), *arguments])


def written(repo: Repo) -> set[str]:
    return {line[3:] for line in repo.git("status", "--porcelain", "--untracked-files=all").splitlines()}


@pytest.mark.parametrize("layout", ["zoo/net.py", "src/zoo/net.py"])
def test_what_it_writes_passes_check_and_its_factories_load(
    repo: Repo, layout: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put(repo, layout, NET)
    assert init(repo) == 0
    assert "models found: Net" in capsys.readouterr().out
    assert "from zoo.net import Net" in (repo.path / "bench" / "torchscan_models.py").read_text()
    assert main(["check", "--directory", str(repo.path), "--load", "--python", sys.executable]) == 0
    assert "1 targets, 3 limits" in capsys.readouterr().out


def test_without_a_model_it_writes_an_example_that_loads(repo: Repo) -> None:
    assert init(repo) == 0
    assert written(repo) == {"torchscan.toml", "bench/torchscan_models.py", ".github/workflows/torchscan.yml"}
    assert main(["check", "--directory", str(repo.path), "--load", "--python", sys.executable]) == 0


MATURIN = '[build-system]\nrequires = ["maturin"]\n[tool.maturin]\npython-source = "python"\n'


def test_it_finds_the_code_where_the_build_backend_keeps_it(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    put(repo, "pyproject.toml", MATURIN)
    put(repo, "python/zoo/net.py", NET)
    put(repo, "python/zoo/__init__.py", "")
    assert init(repo) == 0
    assert "code found in python: maturin.python-source in pyproject.toml" in capsys.readouterr().out
    assert 'import-paths = ["python", "src", "."]' in (repo.path / "torchscan.toml").read_text()
    assert "from zoo.net import Net" in (repo.path / "bench" / "torchscan_models.py").read_text()
    assert main(["check", "--directory", str(repo.path)]) == 0


def test_it_finds_the_projects_of_a_monorepo(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    put(repo, "packages/core/pyproject.toml", "[project]\nname = 'core'\n")
    put(repo, "packages/core/zoo/net.py", NET)
    put(repo, "packages/extra/pyproject.toml", "[project]\nname = 'extra'\n")
    put(repo, "packages/extra/src/more/__init__.py", "A = 1\n")
    put(repo, "packages/empty/pyproject.toml", "[project]\nname = 'empty'\n")
    put(repo, "examples/demo/pyproject.toml", "[project]\nname = 'demo'\n")
    put(repo, "examples/demo/demo.py", "A = 1\n")
    assert init(repo) == 0
    assert "code found in packages/extra/src: the project in packages/extra\n" in capsys.readouterr().out
    assert (
        'import-paths = ["packages/core", "packages/extra/src", "src", "."]'
        in (repo.path / "torchscan.toml").read_text()
    )
    workflow = (repo.path / ".github" / "workflows" / "torchscan.yml").read_text()
    assert "- run: python -m pip install torch ./packages/core ./packages/empty ./packages/extra\n" in workflow
    assert "from zoo.net import Net" in (repo.path / "bench" / "torchscan_models.py").read_text()


def test_a_layout_that_needs_no_key_gets_none(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    put(repo, "pyproject.toml", '[tool.setuptools.packages.find]\nwhere = ["src"]\n')
    put(repo, "src/zoo/net.py", NET)
    assert init(repo) == 0
    assert "import-paths" not in (repo.path / "torchscan.toml").read_text()
    assert "code found" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("there", "kind"),
    [({}, "two-jobs"), ({"LICENSE": "x"}, "forks"), ({".github/dependabot.yml": "version: 2"}, "forks")],
)
def test_the_workflow_follows_from_who_will_open_pull_requests(repo: Repo, there: dict[str, str], kind: str) -> None:
    for name, text in there.items():
        put(repo, name, text)
    assert recommended(survey(repo.path)) == kind


@pytest.mark.parametrize("kind", WORKFLOWS)
def test_a_person_can_choose(repo: Repo, kind: str) -> None:
    assert init(repo, "--workflow", kind) == 0
    assert {path.name for path in (repo.path / ".github" / "workflows").iterdir()} == set(WORKFLOWS[kind])  # type: ignore[index]


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, "python -m pip install torch"),
        ({"requirements.txt": "numpy\n"}, "python -m pip install torch -r requirements.txt"),
        ({"requirements.txt": "numpy\ntorch>=2.1\n"}, "python -m pip install -r requirements.txt"),
        ({"requirements.txt": "torchvision\n"}, "python -m pip install torch -r requirements.txt"),
        ({"pyproject.toml": "[project]\nname='x'\ndependencies=['torch']\n"}, "python -m pip install ."),
        ({"pyproject.toml": "[project]\nname='x'\n"}, "python -m pip install torch ."),
        ({"pyproject.toml": "[tool.ruff]\n"}, "python -m pip install torch"),
        ({"pyproject.toml": "[broken"}, "python -m pip install torch"),
    ],
)
def test_the_workflow_installs_what_the_repository_says(repo: Repo, files: dict[str, str], command: str) -> None:
    for name, text in files.items():
        put(repo, name, text)
    assert init(repo) == 0
    assert f"- run: {command}\n" in (repo.path / ".github" / "workflows" / "torchscan.yml").read_text()


@pytest.mark.parametrize("name", ["bench/torchscan_models.py", ".github/workflows/torchscan.yml"])
def test_nothing_that_exists_is_overwritten_and_nothing_else_is_written(repo: Repo, name: str) -> None:
    (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
    (repo.path / name).symlink_to("elsewhere")
    before = written(repo)
    assert init(repo) == 2
    assert written(repo) == before


@pytest.mark.parametrize("place", ["torchscan.toml", ".github/torchscan.toml", "pyproject.toml"])
def test_a_config_that_is_there_is_kept(repo: Repo, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(
        repo,
        place,
        "[tool.torchscan-ci]\nschema-version = 1\n" if place == "pyproject.toml" else "schema-version = 1\n",
    )
    assert init(repo) == 0
    assert f"kept the config in {place}" in capsys.readouterr().out
    assert not (repo.path / "bench").exists()


def test_outside_a_repository_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--directory", str(tmp_path)]) == 2
    assert "not the top of a git repository" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_no_code_of_the_repository_runs(repo: Repo) -> None:
    put(repo, "zoo/net.py", f"open({str(repo.path / 'pwned')!r}, 'w')\n{NET}")
    put(repo, "setup.py", "raise SystemExit")
    put(repo, "deep.py", "x = " + "(" * 5000)
    assert init(repo) == 0
    assert not (repo.path / "pwned").exists()


@pytest.mark.parametrize("name", [name for kind in WORKFLOWS.values() for name in kind.values()])
def test_every_workflow_is_one_of_the_recipes_which_are_linted(name: str) -> None:
    recipes = (REPOSITORY / ".github" / "docs" / "recipes.md").read_text(encoding="utf-8")
    seen = Survey(install="python -m pip install -r requirements.txt")
    assert f"```yaml\n{starter_workflow(source('ci_action', f'init/{name}'), seen)}```" in recipes
