"""A pull request on GitHub and a runner for it: what every end-to-end test starts from."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from support.rig import events
from support.rig.repository import Consumer
from support.rig.runner import Run, Runner
from support.rig.server import FakeGitHub
from support.rig.state import PullRequestState


@dataclass(frozen=True, slots=True)
class Scene:
    """One consumer repository with an open pull request."""

    github: FakeGitHub
    consumer: Consumer
    runner: Runner

    def run(
        self, event_name: str = "pull_request", event: Mapping[str, Any] | None = None, *, run_id: int = 4242
    ) -> Run:
        """Let GitHub know the pull request's head, and run the workflow on an event (the pull request's by default)."""
        consumer = self.consumer
        self.github.state.remote = consumer.remote
        self.pull_request()
        runner = dataclasses.replace(self.runner, run_id=run_id)
        return runner.run(consumer, event_name, event or events.pull_request(consumer))

    def pull_request(self) -> PullRequestState:
        """Give the pull request as GitHub holds it, at the heads that are pushed now."""
        consumer = self.consumer
        held = self.github.state.pull_requests.setdefault(consumer.number, PullRequestState(number=consumer.number))
        held.head_sha, held.base_sha = consumer.head_sha, consumer.base_sha
        return held

    def artifact(self, run_id: int = 4242) -> dict[str, bytes]:
        """Give the files of the one artifact that a run uploaded."""
        state = self.github.state
        (identifier,) = (number for number, run in state.artifact_runs.items() if run == run_id)
        with zipfile.ZipFile(io.BytesIO(state.blobs[str(identifier)])) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
