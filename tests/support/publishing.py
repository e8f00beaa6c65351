"""A fork's pull request on the fake GitHub, measured in run 71, and the run that publishes for it."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.rig.git_data import git
from support.rig.openapi import minimal
from support.rig.repository import Consumer, consumer
from support.rig.server import FakeGitHub, fake_github
from support.rig.state import NOW, PullRequestState
from support.stages import stages
from support.verdicts import report, result

from ci_action.core.handover.publish_evidence import pack
from ci_action.core.plan import Commits

CONFIG = """
schema-version = 1
accept-label = "dearer"
targets = [{id = "net", factory = "m.py:net"}, {id = "docs", factory = "m.py:net", paths = ["docs"]}]
limits = [{metric = "operator_macs", max-increase = "5%"}]
"""
WORKFLOW = ".github/workflows/torchscan.yml"


class Host:
    """The rig's network where a test does not need one of its own."""

    entered = staticmethod(nullcontext)


@dataclass
class Scene:
    """A fork's pull request, measured in run 71."""

    github: FakeGitHub
    repository: Consumer
    out: Path
    commits: dict[str, str] = field(default_factory=dict)

    def push(self, files: dict[str, str]) -> str:
        """Let the pull request have another commit, of which run 71 is."""
        head = self.repository.commit("feature", files)
        self.github.state.pull_requests[7].head_sha = head
        payload = json.loads((self.out.parent / "event.json").read_text())
        payload["workflow_run"]["head_sha"] = head
        (self.out.parent / "event.json").write_text(json.dumps(payload))
        return head

    def merged(self) -> str:
        """Merge the pull request into main as GitHub does for a test, on a reference of its own."""
        clone = self.repository.clone
        git(clone, "checkout", "--quiet", "--detach", "main")
        person = ("-c", "user.name=rig", "-c", "user.email=rig@example.invalid")
        git(clone, *person, "merge", "--quiet", "--no-ff", "-m", "merge", "feature")
        merge = git(clone, "rev-parse", "HEAD")
        git(clone, "push", "--quiet", str(self.repository.remote), f"+{merge}:refs/pull/7/merge")
        return merge

    def summary(self) -> str:
        return Path(os.environ["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")

    def measured(
        self,
        *identities: str,
        name: str = "torchscan-evidence",
        macs: int = 200,
        number: int | None = None,
        at: str = NOW,
        is_expired: bool = False,
    ) -> None:
        base, head = self.repository.base_sha, self.repository.head_sha
        named = {"base_sha": base, "head_sha": head, "measured_sha": head} | self.commits
        commits = Commits(**named, base_reason="")
        sides = [
            [result("base", identity=one) for one in identities],
            [result("head", report(operator_macs=macs), one) for one in identities],
        ]
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as packed:
            packed.writestr("evidence.json", pack(commits, *sides, {}))
        state = self.github.state
        number = number or 500 + len(state.artifacts)
        state.artifacts[number] = minimal(
            "artifact", id=number, name=name, size_in_bytes=len(target.getvalue()), expired=is_expired, created_at=at
        )
        state.artifact_runs[number] = 71
        state.blobs[str(number)] = target.getvalue()

    def publish(self) -> int:
        return max(stages(("receive", "publish", "gate"), self.out))


@contextmanager
def publishing_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Open the pull request, and set what the publishing job sees."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    repository = consumer(tmp_path / "repo", base={"torchscan.toml": CONFIG, "m.py": ""}, head={"m.py": "#"})
    head = repository.head_sha
    with fake_github(Host()) as github:  # type: ignore[arg-type] # as much of a network as is needed
        state = github.state
        state.remote = repository.remote
        state.pull_requests[7] = PullRequestState(
            number=7, head_sha=head, base_sha=repository.base_sha, head_repository="octo/widget"
        )
        home = {"full_name": "octo/widget"}
        run = {"head_sha": head, "head_branch": "feature", "path": WORKFLOW, "created_at": NOW}
        state.runs[71] = {**minimal("workflow-run", id=71, **run), "head_repository": home}
        event: dict[str, Any] = {
            "id": 71,
            "run_attempt": 1,
            "event": "pull_request",
            "head_sha": head,
            "head_branch": "feature",
            "head_repository": {"full_name": "octo/widget"},
            "repository": {"full_name": "acme/widget"},
            "path": WORKFLOW,
        }
        (tmp_path / "event.json").write_text(json.dumps({"action": "completed", "workflow_run": event}))
        for name, value in {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": "workflow_run",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_REPOSITORY": "acme/widget",
            "GITHUB_WORKSPACE": str(tmp_path),
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "TORCHSCAN_MODE": "publish",
            "TORCHSCAN_TOKEN": "ghs_secret",
            "TORCHSCAN_API_URL": github.own_url,
        }.items():
            monkeypatch.setenv(name, value)
        yield Scene(github, repository, tmp_path / "report")


def the_comment(scene: Scene) -> str:
    (comment,) = scene.github.state.comments_of(7)
    return str(comment["body"]).replace("\u00a0", " ")


def state_of(scene: Scene) -> str:
    return str(scene.github.state.statuses[-1]["state"])
