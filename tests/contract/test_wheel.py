"""What is built is what users get: templates, schemas and markers travel inside the wheel, and CI tests that wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.components import REPOSITORY, in_ci

import torchscan


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build source distribution and, from that, the wheel: the way a release does."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize("package", ["torchscan", "ci_action"])
def test_every_template_and_data_file_is_inside(names: set[str], package: str) -> None:
    templates = REPOSITORY / "templates" / package
    shipped = [path for path in templates.rglob("*") if path.is_file()]
    expected = {f"{package}/_templates/{path.relative_to(templates)}" for path in shipped}
    own = [path for path in (REPOSITORY / package).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    expected |= {str(path.relative_to(REPOSITORY)) for path in own if "_templates" not in path.parts}
    assert expected - names == set()


def test_nothing_else_is_inside(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"torchscan", "ci_action"}
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_the_unpacked_wheel_runs_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "import torchscan, ci_action.main; print(torchscan.__file__); torchscan.render_report"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-P", "-c", code]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert Path(ran.stdout.strip()).is_relative_to(tmp_path)


@pytest.mark.skipif(not in_ci(), reason="a developer tests the checkout, CI tests the installed wheel")
def test_ci_tests_the_installed_wheel_here_and_in_children() -> None:
    code = "import torchscan, ci_action; print(torchscan.__file__); print(ci_action.__file__)"
    command = [sys.executable, "-P", "-c", code]
    child = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    imported = [torchscan.__file__, *child.stdout.split()]
    assert [path for path in imported if "site-packages" not in path] == []
