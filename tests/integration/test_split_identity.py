"""What an author does not decide: whose limits judge, what was accepted, whose status is green."""

from __future__ import annotations

import dataclasses
import json

import pytest
from support.publishing import CONFIG, WORKFLOW, Scene, state_of, the_comment
from support.rig.git_data import git
from support.rig.openapi import minimal
from support.rig.state import labeled

from ci_action.main import main

LOOSE = CONFIG.replace('"5%"', '"500%"')
NO_LIMITS = CONFIG.partition("limits")[0]
EARLIER, BETWEEN, LATER = "2025-12-31T00:00:00Z", "2026-01-01T12:00:00Z", "2026-01-02T00:00:00Z"


def from_old_base(scene: Scene, old: dict[str, str | None]) -> None:
    """Let the pull request start from a commit of main at which the config was another one; main's tip is strict."""
    clone = scene.repository.clone
    files = {name: text for name, text in old.items() if text is not None}
    tip = scene.repository.commit("main", {**files, "notes.md": ""})
    if None in old.values():
        git(clone, "checkout", "--quiet", "main")
        git(clone, "rm", "--quiet", *(name for name, text in old.items() if text is None))
        git(clone, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", "no config")
        tip = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "--quiet", "-B", "feature", tip)
    scene.push({"m.py": "# rebased"})
    scene.commits["base_sha"] = tip
    scene.repository.commit("main", {"torchscan.toml": CONFIG})


@pytest.mark.parametrize("old", [{"torchscan.toml": LOOSE}, {"torchscan.toml": NO_LIMITS}])
def test_limits_are_those_of_the_base_branchs_tip(scene: Scene, old: dict[str, str | None]) -> None:
    # given a branch that starts where limits were looser, or where there was no config
    from_old_base(scene, old)
    scene.measured("net")
    assert scene.publish() == 0
    assert state_of(scene) == "failure"
    assert "Regression: `net` operator MACs" in the_comment(scene)


def test_a_branch_from_before_the_config_is_no_success(scene: Scene) -> None:
    # given a branch that starts where there was no config: it has not removed the targets, it never had them
    from_old_base(scene, {"torchscan.toml": None})
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert state_of(scene) == "error"
    assert "lists it since this branch left it: update the branch" in the_comment(scene)


def test_a_branch_before_the_tip_is_told_whose_limits_count(scene: Scene) -> None:
    from_old_base(scene, {"torchscan.toml": LOOSE})
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert state_of(scene) == "success"
    assert "The limits of its tip count" in the_comment(scene)


def test_a_status_is_of_one_base_branch_and_older_ones_are_taken_back_first(scene: Scene) -> None:
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    said = [(one["context"], one["state"]) for one in scene.github.state.statuses]
    assert said == [("torchscan (main)", "pending"), ("torchscan (main)", "success")]
    posted = [one.path for one in scene.github.state.journal if one.method != "GET" or "artifacts" in one.path]
    assert "/statuses/" in posted[0], "before anything of the evidence is looked at"


def test_a_head_of_two_pull_requests_is_green_for_neither(scene: Scene) -> None:
    state = scene.github.state
    state.pull_requests[8] = dataclasses.replace(state.pull_requests[7], number=8, base_ref="strict")
    scene.measured("net", macs=100)
    assert main(["receive", "--out", str(scene.out)]) == 0
    said = {(one["context"], one["state"]) for one in state.statuses}
    assert said == {("torchscan (main)", "error"), ("torchscan (strict)", "error")}
    assert "close all but one" in str(state.statuses[0]["description"])


def test_a_label_does_not_count_for_a_head_that_was_run_on_another_branch(scene: Scene) -> None:
    # given a head whose commit ran on another branch long before it came here, and a label set in between
    state = scene.github.state
    run = {"head_sha": scene.repository.head_sha, "path": WORKFLOW, "created_at": EARLIER}
    other = minimal("workflow-run", id=60, head_branch="elsewhere", **run)
    state.runs[60] = {**other, "head_repository": {"full_name": "octo/widget"}}
    state.pull_requests[7].timeline.append(labeled("dearer", "octocat", at="2025-12-31T12:00:00Z"))
    state.permissions["octocat"] = "write"
    scene.measured("net")
    assert scene.publish() == 0
    assert state_of(scene) == "failure"


def test_a_label_does_not_count_where_the_branch_was_forced_away_and_came_back(scene: Scene) -> None:
    # given a head that ran, was left by a forced push, and was reached again without one; the label was set in between
    state = scene.github.state
    forced = {"event": "head_ref_force_pushed", "created_at": BETWEEN, "actor": {"login": "mallory"}}
    state.pull_requests[7].timeline += [forced, labeled("dearer", "octocat", at=LATER)]
    state.permissions["octocat"] = "write"
    scene.measured("net")
    assert scene.publish() == 0
    assert state_of(scene) == "failure"


def test_an_authors_own_merge_does_not_say_what_heads_config_is(scene: Scene) -> None:
    # given a commit with the right two parents, whose tree the author has chosen: there the target has another factory
    clone = scene.repository.clone
    base, head = scene.repository.base_sha, scene.repository.head_sha
    git(clone, "checkout", "--quiet", "--detach", "main")
    (clone / "torchscan.toml").write_text(CONFIG.replace('id = "net"', 'id = "other"'))
    git(clone, "add", "--all")
    tree = git(clone, "write-tree")
    forged = git(
        clone, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", tree, "-p", base, "-p", head, "-m", "m"
    )
    git(clone, "push", "--quiet", str(scene.repository.remote), f"+{forged}:refs/heads/forged")
    scene.commits["measured_sha"] = forged
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    document = json.loads((scene.out / "result.json").read_text())
    assert [one["id"] for one in document["targets"]] == ["net", "docs"]
    assert document["commits"]["head_config_sha"] == head
