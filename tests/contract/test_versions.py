"""Which Python and which torch are tested: the oldest, the pinned and the newest, the same wherever they are named."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml
from support.components import REPOSITORY

WORKFLOWS = REPOSITORY / ".github" / "workflows"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
JOBS = yaml.safe_load((WORKFLOWS / "ci.yml").read_text(encoding="utf-8"))["jobs"]
MATRIX: list[dict[str, str]] = JOBS["test"]["strategy"]["matrix"]["include"]


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def steps(job: dict[str, Any], key: str) -> str:
    return "\n".join(str(step[key]) for step in job["steps"] if key in step)


def pinned_torch() -> str:
    found = re.search(r"^TORCH +\?= (\S+)$", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    return found[1]


def test_the_whole_suite_runs_on_the_oldest_and_the_newest_python() -> None:
    supported = [each.rpartition(" :: ")[2] for each in PROJECT["classifiers"] if ":: Python :: 3." in each]
    assert PROJECT["requires-python"] == f">={min(supported, key=version)}"
    tested = [entry["python"] for entry in MATRIX]
    assert {min(supported, key=version), max(supported, key=version)} <= set(tested)


def test_the_whole_suite_runs_on_the_pinned_torch_and_on_a_newer_one_with_the_newest_python() -> None:
    newest = max(MATRIX, key=lambda entry: version(entry["torch"]))
    assert pinned_torch() in [entry["torch"] for entry in MATRIX]
    assert version(newest["torch"]) > version(pinned_torch())
    assert newest["python"] == max((entry["python"] for entry in MATRIX), key=version)
    job = JOBS["test"]
    assert '.ci/run "TORCH=$TORCH"' in steps(job, "run")
    assert {"TORCH": "${{ matrix.torch }}"} in [step.get("env") for step in job["steps"]]
    assert "'python-version': '${{ matrix.python }}'" in steps(job, "with")


def test_the_library_runs_on_the_oldest_torch() -> None:
    (oldest,) = (each for each in PROJECT["dependencies"] if each.startswith("torch"))
    assert re.fullmatch(r"torch>=2\.1,<3", oldest)
    assert "torch==2.1." in steps(JOBS["floor"], "run")


@pytest.mark.parametrize("name", ["dogfood.yml", "smoke.yml"])
def test_our_own_use_of_the_action_has_the_pinned_torch(name: str) -> None:
    named = re.findall(r"torch==(\S+)", (WORKFLOWS / name).read_text(encoding="utf-8"))
    assert named == [pinned_torch()]


def test_the_arguments_of_ci_reach_make() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r"^make .*$", script, re.MULTILINE) == ['make setup "$@"', 'make test "$@"']
