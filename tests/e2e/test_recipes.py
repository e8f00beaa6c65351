"""Recipes in a real runner: a matrix with one job per part and one comment from the last, and a merge queue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.rig import events, widget
from support.rig.recipes import recipe
from support.rig.repository import Consumer, consumer
from support.rig.scene import Scene
from support.rig.server import FakeGitHub

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("recipes")]

SECOND = """
[[targets]]
id = "deeper"
factory = "bench/models.py:classifier"
"""


def test_each_part_is_measured_in_a_job_of_its_own_and_one_comment_has_all(
    github: FakeGitHub, make_scene: Callable[[Path, Consumer], Scene], tmp_path: Path
) -> None:
    # given two targets, of which four jobs at most make two
    config = widget.CONFIG.replace("[[limits]]", f"{SECOND}\n[[limits]]", 1)
    base = widget.base(32, config=config, workflow=recipe("Sharded")[0])
    repository = consumer(tmp_path / "repo", base=base, head=widget.model(48))
    # when
    run = make_scene(tmp_path / "runner", repository).run(run_id=81)
    # then
    assert run.exit_code == 1, run.log
    state = github.state
    names = {state.artifacts[number]["name"] for number, of in state.artifact_runs.items() if of == 81}
    parts = {f"torchscan{kind}-{number}-of-2" for kind in ("", "-evidence") for number in (1, 2)}
    assert names == {"torchscan", *parts}
    (comment,) = state.comments_of(7)
    assert "`classifier`" in comment["body"]
    assert "`deeper`" in comment["body"]
    assert "Gate **failed**" in comment["body"]
    assert len([one for one in state.journal if one.method == "POST" and "/comments" in one.path]) == 1


def test_a_group_of_the_merge_queue_is_judged_and_nothing_is_said_anywhere(
    github: FakeGitHub, make_scene: Callable[[Path, Consumer], Scene], tmp_path: Path
) -> None:
    base = widget.base(32, workflow=recipe("Merge queue")[0])
    repository = consumer(tmp_path / "repo", base=base, head=widget.model(48))
    run = make_scene(tmp_path / "runner", repository).run("merge_group", events.merge_group(repository))
    assert run.exit_code == 1, run.log
    assert "Regression" in run.summary
    assert not [one for one in github.state.journal if one.method != "GET" and one.path.startswith("/repos/")]
