"""Every step of action.yml in a job whose checkout and variables try to get their own code into our programs."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.components import REPOSITORY, need
from support.rig import events
from support.rig.hostile_job import hostile_files, hostile_libraries, hostile_variables, left_by_ours, made_executable
from support.rig.interpreter import torch_only_interpreter
from support.rig.network import Network
from support.rig.repository import Consumer, consumer, export_working_tree
from support.rig.runner import TOKEN
from support.rig.server import FakeGitHub, fake_github
from support.rig.small_runner import SmallRunner, Step
from support.rig.state import PullRequestState

CONFIG = """
schema-version = 1
[[targets]]
id = "net"
factory = "bench/models.py:net"
[[limits]]
metric = "operator_macs"
max-increase = "5%"
"""
MODEL = "import torch\ndef net(): return torch.nn.Linear(8, {}), (torch.zeros(1, 8),)\n"
BASE = {"torchscan.toml": CONFIG, "bench/models.py": MODEL.format(8)}
WHOLE = {"setup": 0, "plan": 0, "measure": 0, "upload": 0, "publish": 0, "gate": 1}
MEASURING = ("setup", "plan", "measure", "pack", "upload-evidence", "upload", "publish")
HEAD = {"bench/models.py": MODEL.format(12)}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that an unprivileged user may enter: pytest's own belongs to root alone."""
    folder = Path(tempfile.mkdtemp(prefix="torchscan-hostile-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def github() -> Iterator[FakeGitHub]:
    with fake_github(Network()) as served:
        yield served


@pytest.fixture(scope="module")
def action(place: Path) -> Path:
    return export_working_tree(REPOSITORY, place / "action")


@pytest.fixture(scope="module")
def python(place: Path) -> Path:
    return torch_only_interpreter(place / "user")


@pytest.fixture
def sentinels(place: Path) -> Iterator[Path]:
    folder = place / "sentinels"
    folder.mkdir()
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


class Jobs:
    """Jobs on one pull request, each with a checkout of its merge commit."""

    def __init__(self, place: Path, action: Path, python: Path, github: FakeGitHub, head: dict[str, str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="jobs-", dir=place))
        self.folder.chmod(0o755)
        self.consumer: Consumer = consumer(self.folder / "repo", base=BASE, head={**HEAD, **head})
        self._action, self._python, self._github = action, python, github
        state = github.reset()
        state.remote = self.consumer.remote
        state.pull_requests[7] = PullRequestState(
            number=7, head_sha=self.consumer.head_sha, base_sha=self.consumer.base_sha
        )

    def job(self, name: str, event_name: str = "pull_request", event: dict[str, Any] | None = None) -> SmallRunner:
        folder = self.folder / name
        workspace = folder / "work space"
        shutil.copytree(self.consumer.clone, workspace, symlinks=True)
        (folder / "event.json").write_text(json.dumps(event or events.pull_request(self.consumer)))
        github = {
            "token": TOKEN,
            "api_url": self._github.own_url,
            "event_name": event_name,
            "event_path": str(folder / "event.json"),
            "repository": "acme/widget",
            "sha": self.consumer.head_sha,
            "run_id": "4242",
            "workflow_ref": "acme/widget/.github/workflows/torchscan.yml@refs/pull/7/merge",
        }
        wheels = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(need("wheelhouse").parent), "OMP_NUM_THREADS": "1"}
        return SmallRunner(folder=folder, action=self._action, github=github, environment=wheels)

    def hostile(self, name: str, *event: Any, more: Mapping[str, str] | None = None) -> SmallRunner:
        made = self.job(name, *event)
        if (made.workspace / "bin").is_dir():
            made_executable(made.workspace)
        environment = {**made.environment, **hostile_variables(made.workspace), **(more or {})}
        path = f"{made.workspace}/bin:{made._base()['PATH']}:."
        return replace(made, environment={**environment, "PATH": path})

    def run(self, job: SmallRunner, **inputs: str) -> dict[str, Step]:
        return job.run(python=str(self._python), **inputs)

    def comment(self) -> str:
        (comment,) = self._github.state.comments.values()
        return str(comment["body"])


def rcs(steps: dict[str, Step]) -> dict[str, int]:
    return {name: step.rc for name, step in steps.items()}


def test_no_step_of_one_job_runs_a_file_of_the_checkout(
    place: Path, action: Path, python: Path, github: FakeGitHub, sentinels: Path
) -> None:
    jobs = Jobs(place, action, python, github, hostile_files(sentinels))
    steps = jobs.run(jobs.hostile("full"))
    assert left_by_ours(sentinels) == {}
    assert rcs(steps) == WHOLE, "".join(step.printed for step in steps.values())
    assert "operator MACs +50" in jobs.comment()
    assert not [step.id for step in steps.values() if "cannot be preloaded" in step.printed]
    assert not [step.id for step in steps.values() if "import " in step.printed], "PYTHONVERBOSE speaks"


def test_no_step_of_the_other_modes_runs_a_file_of_the_checkout(
    place: Path, action: Path, python: Path, github: FakeGitHub, sentinels: Path
) -> None:
    jobs = Jobs(place, action, python, github, hostile_files(sentinels))
    measured = jobs.run(jobs.hostile("measure"), mode="measure", shard="1/1")
    assert rcs(measured) == dict.fromkeys(MEASURING, 0), measured
    merging = jobs.hostile("merge")
    shutil.copytree(jobs.folder / "measure" / "artifacts", merging.artifacts)
    merged = jobs.run(merging, mode="merge")
    assert rcs(merged) == {"setup": 0, "plan": 0, "collect": 0, "merge": 0, "upload": 0, "publish": 0, "gate": 1}, (
        merged
    )
    about = events.workflow_run(jobs.consumer, run_id=4242) | {"action": "requested"}
    received = jobs.run(jobs.hostile("publish", "workflow_run", about), mode="publish")
    assert rcs(received) == {"setup": 0, "receive": 0}
    assert "the measuring run has not ended yet" in received["receive"].printed
    assert left_by_ours(sentinels) == {}


def test_no_library_of_the_checkout_is_loaded(
    place: Path, action: Path, python: Path, github: FakeGitHub, sentinels: Path
) -> None:
    jobs = Jobs(place, action, python, github, hostile_files(sentinels))
    job = jobs.hostile("plan")
    job.environment = {**job.environment, **hostile_libraries(job.workspace)}
    assert rcs(jobs.run(job, mode="plan")) == {"setup": 0, "plan": 0}
    assert job.steps["setup"].outputs["libraries"] == ""
    assert job.steps["setup"].outputs["given-libraries"] == job.environment["LD_LIBRARY_PATH"]  # for the workers alone


WRITES_FILES = """
import pathlib, torch
def net():
    for place in pathlib.Path(__file__).resolve().parents:
        for file in (place / "_runner_file_commands").glob("*"):
            for text in ("LD_PRELOAD=/nowhere/evil.so\\n", "verdict=pass\\nskip=true\\n", "/nowhere/evil\\n"):
                with file.open("a") as stream:
                    stream.write(text)
    return torch.nn.Linear(8, 12), (torch.zeros(1, 8),)
"""


def test_what_measured_code_writes_into_the_steps_files_is_gone(
    place: Path, action: Path, python: Path, github: FakeGitHub
) -> None:
    jobs = Jobs(place, action, python, github, {"bench/models.py": WRITES_FILES})
    measured = jobs.run(jobs.job("files"))["measure"]
    assert set(measured.outputs) == {"results", "report-path"}
    assert measured.environment == {}
    assert measured.summary == ""


EDITS_ENVIRONMENT = """
import pathlib, torch
def net():
    for place in pathlib.Path(__file__).resolve().parents:
        for main in place.glob("torchscan-action.*/venv/lib/python*/site-packages/ci_action/main.py"):
            main.write_text("import os\\nopen('@SENTINELS@/' + os.environ.get('TORCHSCAN_TOKEN', 'ran'), 'w')\\n")
    return torch.nn.Linear(8, 12), (torch.zeros(1, 8),)
"""


def test_nothing_is_started_from_an_environment_that_measured_code_changed(
    place: Path, action: Path, python: Path, github: FakeGitHub, sentinels: Path
) -> None:
    payload = EDITS_ENVIRONMENT.replace("@SENTINELS@", str(sentinels))
    jobs = Jobs(place, action, python, github, {"bench/models.py": payload})
    steps = jobs.run(jobs.job("edited"))
    assert rcs(steps) == {"setup": 0, "plan": 0, "measure": 3}
    (error,) = [one.text for one in steps["measure"].commands if one.name == "error"]
    assert error.startswith("the action's own environment was changed after it was made, so nothing of it is started")
    assert list(sentinels.iterdir()) == []


REPLACES_INTERPRETER = """
import pathlib, sys, torch
def net():
    for name in ("python", "python3", pathlib.Path(sys.executable).name):
        link = pathlib.Path(sys.executable).with_name(name)
        link.unlink(missing_ok=True)
        link.write_text('#!/bin/sh\\necho "${TORCHSCAN_TOKEN:-no token}" >> "@SENTINELS@/interpreter"\\n')
        link.chmod(0o755)
    return torch.nn.Linear(8, 12), (torch.zeros(1, 8),)
"""


def test_an_interpreter_of_the_workspace_that_measured_code_replaced_is_not_started_again(
    place: Path, action: Path, github: FakeGitHub, sentinels: Path
) -> None:
    payload = REPLACES_INTERPRETER.replace("@SENTINELS@", str(sentinels))
    jobs = Jobs(place, action, place, github, {"bench/models.py": payload})
    job = jobs.job("replaced")
    steps = job.run(python=str(torch_only_interpreter(job.workspace / ".venv")))
    assert not (job.workspace / ".venv" / "bin" / "python").is_symlink(), "the payload did not run"
    assert list(sentinels.iterdir()) == []
    assert rcs(steps) == WHOLE, "".join(step.printed for step in steps.values())


FORGES = """
import json, os, pathlib, subprocess, torch
here = pathlib.Path(__file__).resolve()
def net():
    for place in here.parents:
        for file in place.glob("event.json"):
            event = json.loads(file.read_text())
            event["pull_request"]["number"] = 8
            file.write_text(json.dumps(event))
        for folder in place.glob("torchscan-action.*"):
            for name in ("plan.json", "commits.json"):
                for file in folder.rglob(name):
                    file.write_text(file.read_text().replace("5%", "500%").replace('"problem": ""', '"problem": "x"'))
            gate = folder / "report" / "evidence"
            gate.mkdir(parents=True, exist_ok=True)
            (gate / "gate.json").write_text('{"exit_code": 0, "headline": "fine"}')
        for checkout in place.glob("work space"):
            git = ["git", "-c", "safe.directory=*", "-C", str(checkout)]
            loose = subprocess.run([*git, "rev-parse", "main:torchscan.toml"], capture_output=True, text=True).stdout
            blob = subprocess.run([*git, "hash-object", "-w", "--stdin"], input="schema-version = 1\\n", text=True,
                                  capture_output=True).stdout
            subprocess.run([*git, "replace", loose.strip(), blob.strip()], capture_output=True)
            subprocess.run([*git, "update-ref", "refs/heads/main", "feature"], capture_output=True)
            subprocess.run([*git, "config", "remote.origin.promisor", "true"], capture_output=True)
    return torch.nn.Linear(8, 12), (torch.zeros(1, 8),)
"""


def test_what_measured_code_forges_of_the_plan_is_not_believed(
    place: Path, action: Path, python: Path, github: FakeGitHub
) -> None:
    jobs = Jobs(place, action, python, github, {"bench/models.py": FORGES})
    steps = jobs.run(jobs.job("forged"))
    assert rcs(steps) == {"setup": 0, "plan": 0, "measure": 3}, steps
    assert "plan.json is not what `plan` wrote: its digest differs" in steps["measure"].printed
    assert github.state.comments == {}


def test_what_measured_code_forges_of_git_and_the_event_changes_nothing(
    place: Path, action: Path, python: Path, github: FakeGitHub
) -> None:
    # given the same but for the plan's own file, which would end the run
    jobs = Jobs(
        place,
        action,
        python,
        github,
        {"bench/models.py": FORGES.replace('"plan.json", "commits.json"', '"commits.json",')},
    )
    steps = jobs.run(jobs.job("forged"))
    assert rcs(steps) == WHOLE, "".join(step.printed for step in steps.values())
    assert "operator MACs +50" in jobs.comment()
    assert [one["issue_url"].rpartition("/")[2] for one in github.state.comments.values()] == ["7"]
