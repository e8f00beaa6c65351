"""The action under other events and weaker tokens: what it refuses, and what stays green without a comment."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.components import REPOSITORY
from support.rig import events, widget
from support.rig.repository import Consumer, consumer
from support.rig.runner import ACTION
from support.rig.scene import Scene
from support.rig.server import FakeGitHub
from support.rig.state import labeled

pytestmark = pytest.mark.e2e

SceneMaker = Callable[[Path, Consumer], Scene]
FORK = "mallory/widget"


def scene_of(make_scene: SceneMaker, folder: Path, *, head: dict[str, str] | None = None, **base: str) -> Scene:
    """Give a scene whose head is 3% above base, under a limit of 5%, unless told otherwise."""
    made = consumer(folder / "repo", base=widget.base(**base), head=head or widget.model(33))
    return make_scene(folder / "runner", made)


def test_a_read_only_token_leaves_the_job_green_with_a_warning(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    github.state.can_write = False
    scene = scene_of(make_scene, tmp_path)
    run = scene.run(event=events.pull_request(scene.consumer, head_repository=FORK))
    assert run.exit_code == 0, run.log
    assert github.state.comments == {}
    assert any(one.kind == "warning" and "pull-requests: write" in one.message for one in run.annotations)
    assert "classifier" in run.summary
    assert scene.artifact()["index.html"]


def test_a_dangerous_event_is_refused_before_anything_is_fetched(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    sentinel = tmp_path / "executed"
    hostile = widget.model(33, prologue=f"open({str(sentinel)!r}, 'w').close()\n")
    scene = scene_of(make_scene, tmp_path, head=hostile)
    run = scene.run("pull_request_target")
    assert run.exit_code == 1
    assert any("pull_request_target" in one.message for one in run.annotations if one.kind == "error")
    assert not sentinel.exists()
    assert github.state.journal == []


def test_a_merge_queue_gets_a_gate_and_a_summary_but_no_comment(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    scene = scene_of(make_scene, tmp_path, head=widget.model(48))
    run = scene.run("merge_group", events.merge_group(scene.consumer))
    assert run.exit_code == 1
    assert run.outputs["torchscan"]["verdict"] == "fail"
    assert "classifier" in run.summary
    assert github.state.comments == {}


def test_without_a_config_on_base_the_run_reports_and_passes(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    # given a pull request that brings the config, with a limit of its own that it would exceed
    workflow = {".github/workflows/torchscan.yml": widget.WORKFLOW, **widget.model(32)}
    strict = widget.CONFIG.replace('max-increase = "5%"', 'max = "1"')
    made = consumer(tmp_path / "repo", base=workflow, head={"torchscan.toml": strict, **widget.model(48)})
    run = make_scene(tmp_path / "runner", made).run()
    assert run.exit_code == 0, run.log
    document = json.loads(run.outputs["torchscan"]["json"])
    assert [target["id"] for target in document["targets"]] == ["classifier"]
    (comment,) = github.state.comments_of(7)
    assert "classifier" in comment["body"]


def test_a_pull_request_cannot_raise_its_own_limit(github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path) -> None:
    raised = {"torchscan.toml": widget.CONFIG.replace("5%", "500%"), **widget.model(48)}
    run = scene_of(make_scene, tmp_path, head=raised).run()
    assert run.exit_code == 1
    (comment,) = github.state.comments_of(7)
    assert "after the merge" in comment["body"]


@pytest.mark.parametrize(("permission", "exit_code"), [("write", 0), ("read", 1)])
def test_a_label_accepts_an_exceeded_limit_only_from_a_writer(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path, permission: str, exit_code: int
) -> None:
    # given the run was started by the label itself
    label = "torchscan: accepted"
    config = widget.CONFIG.replace("schema-version = 1\n", f'schema-version = 1\naccept-label = "{label}"\n')
    scene = scene_of(make_scene, tmp_path, head=widget.model(48), config=config)
    scene.pull_request().timeline.append(labeled(label, "octocat"))
    github.state.permissions["octocat"] = permission
    event = events.pull_request(scene.consumer) | {"action": "labeled", "label": {"name": label}}
    # when
    run = scene.run(event=event)
    # then
    assert run.exit_code == exit_code, run.log
    (comment,) = github.state.comments_of(7)
    assert ("octocat" in comment["body"]) == (exit_code == 0)


def test_a_model_that_raises_on_head_is_named_and_the_job_fails(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    broken = {"bench/models.py": "def classifier():\n    raise KeyError('weights')\n"}
    run = scene_of(make_scene, tmp_path, head=broken).run()
    assert run.exit_code == 1
    assert run.outputs["torchscan"]["verdict"] in {"fail", "unknown"}
    (comment,) = github.state.comments_of(7)
    assert "KeyError" in comment["body"]


def test_a_typo_in_the_config_is_one_sentence_with_file_and_line(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    typo = {"torchscan.toml": widget.CONFIG.replace("max-increase", "max-increse"), **widget.model(33)}
    run = scene_of(make_scene, tmp_path, head=typo).run()
    assert run.exit_code == 1
    (error,) = [one for one in run.annotations if one.kind == "error"]
    line = widget.CONFIG.splitlines().index('max-increase = "5%"') + 1
    assert error.message.startswith(f"torchscan.toml:{line}: ")
    assert "did you mean 'max-increase'?" in error.message
    assert (error.properties["file"], error.properties["line"]) == ("torchscan.toml", str(line))


def test_enterprise_server_gets_its_comment_under_its_own_api_path(
    ghes: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    # given a server of its own, where artifacts cannot be uploaded
    workflow = widget.WORKFLOW.rstrip("\n") + "\n        with:\n          upload: false\n"
    shared = scene_of(make_scene, tmp_path, workflow=workflow)
    api_url = ghes.public_url + ghes.prefix
    runner = dataclasses.replace(shared.runner, api_url=api_url, extra={"GITHUB_SERVER_URL": "https://ghe.example"})
    # when
    run = Scene(ghes, shared.consumer, runner).run()
    # then
    assert run.exit_code == 0, run.log
    (comment,) = ghes.state.comments_of(7)
    assert "https://ghe.example/acme/widget/" in comment["body"]
    assert "//github.com" not in comment["body"]
    assert ghes.state.artifacts == {}


def test_the_workflow_of_the_readme_runs_as_it_is(github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path) -> None:
    # given the README's first workflow, less its pip: the rig's interpreter has what the model needs
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    workflow = next(block for block in blocks if f"uses: {ACTION}@v1" in block and "pull_request" in block)
    workflow = re.sub(r"^\s*- run: python -m pip install .*\n", "", workflow, flags=re.MULTILINE)
    scene = scene_of(make_scene, tmp_path, workflow=workflow)
    run = scene.run()
    assert run.exit_code == 0, run.log
    assert len(github.state.comments_of(7)) == 1
