"""The workflow that ``init`` writes, in a real runner: one job measures without a token, another one comments."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.rig import events, widget
from support.rig.recipes import recipe
from support.rig.repository import Consumer, consumer
from support.rig.scene import Scene
from support.rig.server import FakeGitHub
from support.rig.state import Fault

from ci_action.core.config.starter import WORKFLOWS, Survey, starter_workflow
from torchscan.render.templates import source

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("two-jobs")]
SceneMaker = Callable[[Path, Consumer], Scene]
(TEMPLATE,) = WORKFLOWS["two-jobs"].values()


def written() -> str:
    """Give what ``init`` writes, without the installation of torch, which the rig has."""
    text = starter_workflow(source("ci_action", f"init/{TEMPLATE}"), Survey())
    return re.sub(r"^\s*- run: .*pip install.*\n", "", text, flags=re.MULTILINE)


def test_the_recipe_is_what_init_writes() -> None:
    assert recipe("Two jobs") == [written()]


def test_the_second_job_judges_and_comments_once(github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path) -> None:
    repository = consumer(tmp_path / "repo", base=widget.base(32, workflow=written()), head=widget.model(48))
    run = make_scene(tmp_path / "runner", repository).run(run_id=91)
    assert run.exit_code == 1, run.log
    (comment,) = github.state.comments_of(7)
    assert "Regression: `classifier` operator" in comment["body"]
    assert "Gate **failed**" in comment["body"]
    names = {github.state.artifacts[number]["name"] for number, of in github.state.artifact_runs.items() if of == 91}
    assert names == {"torchscan", "torchscan-1-of-1", "torchscan-evidence-1-of-1"}


def test_the_measuring_job_asks_github_nothing(github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path) -> None:
    # given the first job alone
    alone = written().partition("\n  torchscan:")[0] + "\n"
    repository = consumer(tmp_path / "repo", base=widget.base(32, workflow=alone), head=widget.model(48))
    run = make_scene(tmp_path / "runner", repository).run(run_id=92)
    assert run.exit_code == 0, run.log
    assert [one.path for one in github.state.journal if one.path.startswith("/repos/")] == []
    assert github.state.comments == {}


def test_a_forks_pull_request_is_judged_although_its_token_only_reads(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    repository = consumer(tmp_path / "repo", base=widget.base(32, workflow=written()), head=widget.model(48))
    scene = make_scene(tmp_path / "runner", repository)
    refusal = "Resource not accessible by integration"
    github.state.faults.append(Fault(method="POST", path="/comments", times=9, status=403, message=refusal))
    run = scene.run(event=events.pull_request(repository, head_repository="octo/widget"), run_id=93)
    assert run.exit_code == 1, run.log
    assert github.state.comments == {}
    assert "Regression: `classifier` operator" in run.summary
    assert any("grant the job `pull-requests: write`" in one.message for one in run.annotations)
