"""The sharded recipe in a real runner: a matrix from the plan, one job per part, one comment from the last."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.components import REPOSITORY
from support.rig import widget
from support.rig.repository import Consumer, consumer
from support.rig.scene import Scene
from support.rig.server import FakeGitHub

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("sharded")]

SECOND = """
[[targets]]
id = "deeper"
factory = "bench/models.py:classifier"
"""


def workflow() -> str:
    """Give the recipe's workflow as it stands there, without the installation of torch."""
    text = (REPOSITORY / ".github" / "docs" / "recipes.md").read_text(encoding="utf-8")
    block = re.findall(r"^```yaml\n(.*?)^```", text.partition("## Sharded")[2], flags=re.MULTILINE | re.DOTALL)[0]
    return re.sub(r"^\s*- run: .*pip install.*\n", "", block, flags=re.MULTILINE)


def test_each_part_is_measured_in_a_job_of_its_own_and_one_comment_has_all(
    github: FakeGitHub, make_scene: Callable[[Path, Consumer], Scene], tmp_path: Path
) -> None:
    # given two targets, of which four jobs at most make two
    config = widget.CONFIG.replace("[[limits]]", f"{SECOND}\n[[limits]]", 1)
    base = widget.base(32, config=config, workflow=workflow())
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
