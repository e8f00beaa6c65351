"""Which changed files say what is installed."""

from __future__ import annotations

import pytest

from ci_action.core.dependencies import dependency_files


def found(*paths: str, base: str | None = None, head: str | None = None) -> tuple[str, ...]:
    return dependency_files(paths, lambda _: (base, head))


@pytest.mark.parametrize(
    "path",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "requirements.in",
        "dev-requirements.txt",
        "requirements/gpu.txt",
        "services/api/requirements/base.txt",
        "constraints.txt",
        "packages/core/setup.py",
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "Pipfile",
        "Pipfile.lock",
        "pylock.toml",
        "pylock.gpu.toml",
        "environment.yml",
        "environment-gpu.yaml",
        "conda-lock.yml",
        "pixi.lock",
        "Dockerfile",
        "docker/Dockerfile.gpu",
        "docker/train.dockerfile",
        ".python-version",
        "conanfile.txt",
    ],
)
def test_a_file_that_says_what_is_installed_is_named(path: str) -> None:
    assert found(path, "models/net.py") == (path,)


@pytest.mark.parametrize(
    "path", ["models/net.py", "requirements.py", "docs/requirements.txt", "locks.txt", "setup.py.md", "README.md"]
)
def test_other_files_are_not(path: str) -> None:
    assert found(path) == ()


PROJECT = '[project]\nname = "x"\ndependencies = ["tinydep==1.0"]\n[tool.ruff]\nline-length = 80\n'


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("tinydep==1.0", "tinydep==2.0", True),
        ("line-length = 80", "line-length = 120", False),
        ('name = "x"', 'name = "y"', False),
        ("[tool.ruff]", '[build-system]\nrequires = ["maturin"]\n[tool.ruff]', True),
        ("[tool.ruff]", '[dependency-groups]\ntest = ["a"]\n[tool.ruff]', True),
        ("[tool.ruff]", '[project.optional-dependencies]\ngpu = ["a"]\n[tool.ruff]', True),
        ("[tool.ruff]", '[tool.poetry.dependencies]\na = "1"\n[tool.ruff]', True),
        ("[tool.ruff]", '[tool.poetry]\nversion = "1"\n[tool.ruff]', False),
        ("[tool.ruff]", '[tool.uv.sources]\na = { path = "b" }\n[tool.ruff]', True),
        ("[tool.ruff]", "[tool.ruff", True),  # nobody knows what a broken file says
        ("[tool.ruff]", "[tool]\nhatch = 1\n[other]", False),
    ],
)
def test_a_pyproject_counts_where_its_dependencies_changed(old: str, new: str, counts: bool) -> None:
    assert found("pyproject.toml", base=PROJECT, head=PROJECT.replace(old, new)) == (("pyproject.toml",) * counts)
    assert found("a/pyproject.toml", base=PROJECT.replace(old, new), head=PROJECT) == (("a/pyproject.toml",) * counts)


def test_a_pyproject_that_is_new_or_gone_counts_by_what_it_holds() -> None:
    assert found("pyproject.toml", head=PROJECT) == ("pyproject.toml",)
    assert found("pyproject.toml", base=PROJECT) == ("pyproject.toml",)
    assert found("pyproject.toml", head="[tool.ruff]\nline-length = 80\n") == ()


@pytest.mark.parametrize(
    ("head", "counts"),
    [
        ("[options]\ninstall_requires =\n    a==2\n", True),
        ("[options]\ninstall_requires =\n    a==1\nzip_safe = true\n[flake8]\nmax-line-length = 3\n", False),
        ("[options]\ninstall_requires =\n    a==1\n[options.extras_require]\ngpu = b\n", True),
        ("no section", True),
    ],
)
def test_a_setup_cfg_counts_where_its_dependencies_changed(head: str, counts: bool) -> None:
    base = "[options]\ninstall_requires =\n    a==1\n"
    assert found("setup.cfg", base=base, head=head) == (("setup.cfg",) * counts)
