"""Where build backends are told to find the code."""

from __future__ import annotations

import pytest

from ci_action.core.config.layouts import code_folders


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ('[tool.maturin]\npython-source = "python"\n', "python"),
        ('[tool.setuptools.packages.find]\nwhere = ["lib"]\n', "lib"),
        ('[tool.setuptools.package-dir]\n"" = "python"\n', "python"),
        ('[tool.setuptools.package-dir]\nmypkg = "code/mypkg"\n', "code"),
        ('[tool.setuptools.package-dir]\nmypkg = "mypkg"\n', "."),
        ('[tool.hatch.build.targets.wheel]\npackages = ["python/mypkg"]\n', "python"),
        ('[tool.hatch.build.targets.wheel]\nsources = ["python"]\n', "python"),
        ('[tool.hatch.build.targets.wheel.sources]\n"python" = ""\n', "python"),
        ('[[tool.poetry.packages]]\ninclude = "mypkg"\nfrom = "python"\n', "python"),
        ('[tool.scikit-build]\nwheel.packages = ["python/mypkg"]\n', "python"),
        ('[tool.scikit-build.wheel.packages]\nmypkg = "python/mypkg"\n', "python"),
        ('[tool.pdm.build]\npackage-dir = "python"\n', "python"),
        ('[tool.uv.build-backend]\nmodule-root = "python"\n', "python"),
        ('[tool.uv.build-backend]\nmodule-root = ""\n', "."),
    ],
)
def test_each_backends_own_key_is_read(text: str, folder: str) -> None:
    assert [found.path for found in code_folders(".", {"pyproject.toml": text})] == [folder]
    below = code_folders("packages/core", {"pyproject.toml": text})
    assert [found.path for found in below] == [f"packages/core/{folder}".removesuffix("/.")]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("setup.cfg", "[options]\npackage_dir =\n    = python\n"),
        ("setup.cfg", "[options]\npackages = find:\n[options.packages.find]\nwhere = python\n"),
        ("setup.py", "from setuptools import *\nsetup(packages=find_packages('python'))"),
        ("setup.py", "import setuptools as s\ns.setup(packages=s.find_packages(where='python'))"),
        ("setup.py", "from setuptools import setup\nsetup(package_dir={'': 'python'})"),
    ],
)
def test_older_projects_are_read_too(file: str, text: str) -> None:
    assert [found.path for found in code_folders(".", {file: text})] == ["python"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", ""),
        ("pyproject.toml", "[broken"),
        ("pyproject.toml", "[tool]\nmaturin = 1\npoetry = 2\n"),
        ("pyproject.toml", "[tool.poetry]\npackages = 5\n"),
        ("pyproject.toml", "[tool.maturin]\npython-source = 5\n"),
        ("pyproject.toml", '[tool.maturin]\npython-source = "../elsewhere"\n'),
        ("pyproject.toml", '[tool.maturin]\npython-source = "/usr"\n'),
        (
            "pyproject.toml",
            '[tool.setuptools.package-dir]\nmypkg = "lib"\n',
        ),  # imported by another name than its folder
        ("setup.cfg", "nothing of a config"),
        ("setup.py", "def ("),
        ("setup.py", "from setuptools import setup\nsetup(package_dir=given())"),
    ],
)
def test_what_says_nothing_of_use_gives_nothing(file: str, text: str) -> None:
    assert code_folders(".", {file: text}) == []


def test_the_words_that_say_so_are_named() -> None:
    (found,) = code_folders("packages/core", {"pyproject.toml": '[tool.maturin]\npython-source = "python"\n'})
    assert found.because == "maturin.python-source in packages/core/pyproject.toml"
