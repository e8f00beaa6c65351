"""A whole publishing run against the fake GitHub over HTTP: what was measured elsewhere, judged and said here."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from support.publishing import CONFIG, Scene, state_of, the_comment
from support.rig.git_data import git
from support.rig.openapi import minimal
from support.rig.state import LATER, Fault, labeled
from support.verdicts import result

from ci_action.core.handover.publish_evidence import pack
from ci_action.core.plan import Commits
from ci_action.edges.github import trees
from ci_action.main import main
from ci_action.receiving import MAX_REQUESTS

NARROW = CONFIG.replace("[{metric", '[{targets = ["net"], metric')


def test_a_limit_exceeded_is_said_and_shuts_the_gate(scene: Scene) -> None:
    scene.measured("net")
    assert scene.publish() == 0
    assert "Regression: `net` operator MACs" in the_comment(scene)
    assert " run=71 attempt=1 -->" in the_comment(scene)
    assert state_of(scene) == "failure"


def test_a_target_that_the_pull_request_does_not_touch_is_not_missed(scene: Scene) -> None:
    # given a target with paths, of which the measuring run left nothing
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert "1 target skipped" in the_comment(scene)
    assert state_of(scene) == "success"


def test_a_target_that_it_does_touch_is_missed(scene: Scene) -> None:
    # given evidence that is silent about a target although its paths changed
    scene.push({"docs/x.md": "x"})
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    said = the_comment(scene)
    assert "Not measured: `docs`: no result, see below" in said
    assert "`docs`: the measuring run left no result; its paths are docs, and it cannot be proven" in said
    assert "NoResult" not in said
    assert state_of(scene) == "error"


def test_without_a_limit_what_is_not_known_is_no_pass_either(scene: Scene) -> None:
    # given limits of another target alone
    scene.commits["base_sha"] = scene.repository.commit("main", {"torchscan.toml": NARROW})
    scene.push({"docs/x.md": "x", "torchscan.toml": NARROW})
    scene.commits["measured_sha"] = scene.merged()
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert "Not measured: `docs`: no result" in the_comment(scene)
    assert "a listed target must be measured" in the_comment(scene)
    assert state_of(scene) == "error"


def stacked(scene: Scene) -> None:
    """Let the first part of a stack be on main by a squash, and let GitHub merge the rest into it."""
    scene.push({"docs/x.md": "x", "docs/y.md": "y"})
    scene.push({"m.py": "###"})
    git(scene.repository.clone, "checkout", "--quiet", "main")
    scene.commits["base_sha"] = scene.repository.commit("main", {"docs/x.md": "x", "docs/y.md": "y"})
    scene.commits["measured_sha"] = scene.merged()


def test_a_stack_whose_first_part_was_squashed_is_no_change_of_its_paths(scene: Scene) -> None:
    stacked(scene)
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert "1 target skipped" in the_comment(scene)
    assert state_of(scene) == "success"


def test_a_part_that_main_has_changed_again_is_settled_by_githubs_own_merge(scene: Scene) -> None:
    # given a file of which head has an older state than main: what a merge makes of it, only the merge itself tells
    lines = [f"{number}\n" for number in range(40)]
    start = scene.repository.commit("main", {"docs/x.md": "".join(lines)})
    git(scene.repository.clone, "checkout", "--quiet", "-B", "feature", start)
    lines[0] = "first part\n"
    scene.push({"docs/x.md": "".join(lines)})
    scene.push({"m.py": "###"})
    lines[39] = "and more\n"
    scene.commits["base_sha"] = scene.repository.commit("main", {"docs/x.md": "".join(lines)})
    scene.commits["measured_sha"] = scene.merged()
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert "Not measured" in the_comment(scene)
    assert state_of(scene) == "error"

    scene.github.state.pull_requests[7].merge_sha = scene.commits["measured_sha"]
    assert scene.publish() == 0
    assert "1 target skipped" in the_comment(scene)
    assert state_of(scene) == "success"


def test_a_result_is_judged_even_where_the_target_need_not_have_been_measured(scene: Scene) -> None:
    scene.measured("net", "docs")
    assert scene.publish() == 0
    assert "skipped" not in the_comment(scene)
    assert "2 of 2 targets" in the_comment(scene)


def test_a_pull_request_of_3100_files_is_compared_in_full(scene: Scene) -> None:
    scene.push({f"other/{number}.txt": "x" for number in range(3100)})
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert "1 target skipped" in the_comment(scene)
    assert state_of(scene) == "success"


def test_files_that_github_does_not_list_are_told_and_never_a_pass(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MAX_TREES", 1)
    scene.github.state.tree_limit = 1
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    assert "GitHub does not list all files that differ" in the_comment(scene)
    assert state_of(scene) == "error"


def test_the_later_attempt_counts_although_its_artifact_has_the_lower_id(scene: Scene) -> None:
    scene.measured("net", number=900, at="2026-01-01T10:00:00Z")
    scene.measured("net", macs=100, number=400, at="2026-01-01T11:00:00Z")
    assert scene.publish() == 0
    assert state_of(scene) == "success"


def test_a_base_branch_that_was_deleted_is_named_and_no_permission_blamed(scene: Scene) -> None:
    scene.measured("net")
    scene.github.state.pull_requests[7].base_ref = "release"
    assert main(["receive", "--out", str(scene.out)]) == 4
    assert "the base branch 'release' is not in acme/widget any more" in scene.summary()
    assert "actions: read" not in scene.summary()
    assert state_of(scene) == "error"


def test_a_run_that_was_deleted_is_named(scene: Scene) -> None:
    scene.github.state.faults.append(Fault(method="GET", path="/artifacts", status=404, message="Not Found"))
    assert main(["receive", "--out", str(scene.out)]) == 4
    assert "the measuring run 71 was deleted" in scene.summary()
    assert "actions: read" not in scene.summary()


@pytest.mark.parametrize("is_listed", [True, False])
def test_evidence_that_has_expired_is_named(scene: Scene, is_listed: bool) -> None:
    scene.measured("net", is_expired=is_listed)
    scene.github.state.faults.append(Fault(method="GET", path="/zip", status=410, message="Artifact has expired"))
    assert main(["receive", "--out", str(scene.out)]) == 3
    assert "expired" in scene.summary()
    assert "actions: read" not in scene.summary()


def test_a_pull_request_that_is_closed_before_the_comment_gets_no_new_one(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.measured("net")
    assert main(["receive", "--out", str(scene.out)]) == 0
    scene.github.state.pull_requests[7].state = "closed"
    assert main(["publish", "--out", str(scene.out)]) == 0
    assert scene.github.state.comments_of(7) == []
    assert "the pull request is closed, so no new comment was written" in capsys.readouterr().err
    assert state_of(scene) == "failure"  # a status is of a commit, and stands for whoever looks at it later


def test_a_comment_that_is_there_is_updated_on_a_closed_pull_request(scene: Scene) -> None:
    scene.measured("net")
    assert scene.publish() == 0
    scene.measured("net", macs=100)
    assert main(["receive", "--out", str(scene.out)]) == 0
    scene.github.state.pull_requests[7].state = "closed"
    assert main(["publish", "--out", str(scene.out)]) == 0
    assert "No change" in the_comment(scene)


def test_publishing_stays_within_its_budget_of_requests(scene: Scene) -> None:
    """The budget that `receiving` writes down, for a first comment and for its update."""
    stacked(scene)
    scene.measured("net", macs=100)
    assert scene.publish() == 0
    first = len(scene.github.state.journal)
    assert scene.publish() == 0
    told = [f"{one.method} {one.path}" for one in scene.github.state.journal]
    assert first <= MAX_REQUESTS, "\n".join(told[:first])
    assert len(told) - first <= MAX_REQUESTS, "\n".join(told[first:])
    assert len([one for one in told[first:] if "/comments" in one or "/pulls/" in one]) <= 4


@pytest.mark.parametrize(("at", "state"), [(LATER, "success"), ("2025-12-31T00:00:00Z", "failure")])
def test_a_label_counts_if_it_was_set_after_the_head_was_first_run(scene: Scene, at: str, state: str) -> None:
    scene.github.state.pull_requests[7].timeline.append(labeled("dearer", "octocat", at=at))
    scene.github.state.permissions["octocat"] = "write"
    scene.measured("net")
    assert scene.publish() == 0
    assert state_of(scene) == state
    assert ("`octocat`" in the_comment(scene)) == (state == "success")


def test_the_evidence_of_all_shards_is_joined(scene: Scene) -> None:
    scene.measured("net", name="torchscan-evidence-1-of-2")
    scene.measured("docs", name="torchscan-evidence-2-of-2")
    assert scene.publish() == 0
    assert "Regression" in the_comment(scene)


def test_the_owner_may_want_a_check_run_instead(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHSCAN_STATUS", "check")
    scene.measured("net")
    assert scene.publish() == 0
    (check,) = scene.github.state.check_runs.values()
    assert (check["conclusion"], check["head_sha"]) == ("failure", scene.repository.head_sha)
    assert "Regression" in check["output"]["summary"]
    assert scene.github.state.statuses == []


def test_without_a_status_the_jobs_own_result_is_the_gate(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHSCAN_STATUS", "none")
    scene.measured("net")
    assert scene.publish() == 1


def test_the_report_says_where_the_pages_of_the_models_are(scene: Scene) -> None:
    # given the measuring run's own report beside its evidence, whose pages publish never opens
    scene.measured("net", name="torchscan")
    scene.measured("net")
    assert scene.publish() == 0
    index = (scene.out / "index.html").read_text()
    assert '<code>torchscan</code> of <a href="https://github.com/acme/widget/actions/runs/71"' in index
    links = {link for link in re.findall(r'href="([^"#][^"]*)"', index) if not link.startswith(("data:", "https:"))}
    assert links
    assert all((scene.out / link).is_file() for link in links)
    archives = [one.path for one in scene.github.state.journal if one.path.endswith("/zip")]
    assert len(archives) == 1


def test_a_second_run_updates_the_comment(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.measured("net")
    assert scene.publish() == 0
    scene.measured("net", macs=100)
    capsys.readouterr()
    assert scene.publish() == 0
    assert "No change" in the_comment(scene)
    assert "another job" not in capsys.readouterr().err  # it is the same job, run again for the same evidence


def test_the_base_may_not_be_the_pull_requests_own_commit(scene: Scene) -> None:
    # given a fork that loosens its own limit one commit below its head, and measures against that commit
    loose = scene.repository.commit("feature", {"torchscan.toml": CONFIG.replace("5%", "900%")})
    head = scene.repository.commit("feature", {"m.py": "##"})
    state = scene.github.state
    state.pull_requests[7].head_sha = head
    payload = json.loads((scene.out.parent / "event.json").read_text())
    payload["workflow_run"]["head_sha"] = head
    (scene.out.parent / "event.json").write_text(json.dumps(payload))
    assert git(scene.repository.clone, "merge-base", loose, head) == loose
    commits = Commits(base_sha=loose, head_sha=head, measured_sha=head, base_reason="")
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as packed:
        packed.writestr("evidence.json", pack(commits, [result("base")], [result("head")], {}))
    state.artifacts[900] = minimal("artifact", id=900, name="torchscan-evidence", size_in_bytes=9, expired=False)
    state.artifact_runs[900], state.blobs["900"] = 71, target.getvalue()
    assert main(["receive", "--out", str(scene.out)]) == 3
    assert state_of(scene) == "error"
    assert state.comments_of(7) == []


def test_a_config_error_is_not_annotated_on_the_default_branchs_file(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    # given a head whose config is wrong: this run's annotations stand on another commit
    head = scene.repository.commit("feature", {"torchscan.toml": CONFIG + "nope = 1\n"})
    scene.github.state.pull_requests[7].head_sha = head
    payload = json.loads((scene.out.parent / "event.json").read_text())
    payload["workflow_run"]["head_sha"] = head
    (scene.out.parent / "event.json").write_text(json.dumps(payload))
    scene.measured("net")
    assert main(["receive", "--out", str(scene.out)]) == 2
    said = capsys.readouterr().err
    assert "::error title=TorchScan::the config of the measured head is not valid, see torchscan.toml:6 there" in said
    assert "nope" not in said + (scene.out.parent / "summary").read_text()
    # and the line beside the commit names the place in our words alone
    description = str(scene.github.state.statuses[-1]["description"])
    assert description == "not measured: the config at head is not valid, see torchscan.toml:6"
