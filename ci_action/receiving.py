"""Take over what another run measured: find its evidence, prove it, and read the configs from GitHub."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ci_action.core.publish_evidence import FILE
from ci_action.core.received_evidence import read_received
from ci_action.core.shards import MOST_SHARDS, evidence_group, evidence_name, joined
from ci_action.edges.archive import only_file
from ci_action.errors import EvidenceError
from ci_action.proof import prove_commits

if TYPE_CHECKING:
    from ci_action.core.event import PullRequest
    from ci_action.core.plan import Commits
    from ci_action.core.producing_run import ProducingRun
    from ci_action.core.received_evidence import Received
    from ci_action.ports import Artifact, RemoteRepository, RunStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a publishing run knows before it judges."""

    run: ProducingRun
    pull: PullRequest
    commits: Commits
    received: Received


@dataclass(slots=True)
class RecordedRepository:
    """Files and changed paths as GitHub gave them, so that a later step judges by the same. ``remote`` is asked once.

    Reads as git does: a config is looked for by commit and path.
    """

    number: int
    remote: RemoteRepository | None = None
    files: dict[tuple[str, str], str | None] = field(default_factory=dict)
    touched: list[list[str] | None] = field(default_factory=list)

    def read(self, sha: str, path: str) -> str | None:
        """A file's text at a commit, or None."""
        if (sha, path) not in self.files:
            self.files[sha, path] = self.remote.read(sha, path) if self.remote else None
        return self.files[sha, path]

    def changed_paths(self, base: str, head: str) -> list[str] | None:
        """What the pull request touches: GitHub lists it for the pull request, whichever commits are named."""
        del base, head
        if not self.touched:
            self.touched.append(self.remote.changed_paths(self.number) if self.remote else None)
        return self.touched[0]


def take_over(
    run: ProducingRun, pull: PullRequest, remote: RemoteRepository, store: RunStore, *, artifact_name: str
) -> Delivery:
    """Download and check a run's evidence, and prove the commits that it names.

    Raises EvidenceError, PublishError.
    """
    chosen = choose_evidence(store.artifacts(run.id), artifact_name)
    received = joined([read_received(only_file(store.archive(item), FILE)) for item in chosen])
    return Delivery(run=run, pull=pull, commits=prove_commits(pull, received, remote), received=received)


def choose_evidence(artifacts: list[Artifact], name: str) -> list[Artifact]:
    """Pick the evidence of a run: whole, or all shards of the latest split. Raises EvidenceError if there is none."""
    groups: dict[int, dict[str, Artifact]] = {}
    for item in sorted(artifacts, key=lambda item: item.id):
        group = evidence_group(name, item.name)
        if group is not None and not item.is_expired:
            groups.setdefault(group, {})[item.name] = item  # of one name the latest attempt counts
    if not groups:
        raise EvidenceError(
            f"the measuring run left no artifact {evidence_name(name, None)!r}: it did not get to its end, or its "
            "input artifact-name is another one"
        )
    latest = max(groups.values(), key=lambda group: max(item.id for item in group.values()))
    return list(latest.values())[:MOST_SHARDS]
