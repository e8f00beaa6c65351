"""Stand-ins for what a publishing run asks GitHub: pull requests, ancestry, files, and what other runs left."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ci_action.core.config.committed import CommittedFile
from ci_action.core.event import PullRequest
from ci_action.core.handover.producing_run import ProducingRun
from ci_action.core.plan import Commits
from ci_action.ports import Artifact, CommitStatus, Comparison

HEAD, MERGE, PARTED, LATER, ELSEWHERE = (letter * 40 for letter in "acbde")
"""The head, its merge commit, where it left main, a later commit of main, and a commit that is on no branch."""
PULL = PullRequest(
    number=7,
    head_sha=HEAD,
    head_ref="feature",
    head_repository="octo/widget",
    base_sha=LATER,
    base_ref="main",
    base_repository="acme/widget",
)
RUN = ProducingRun(
    id=71,
    attempt=2,
    event="pull_request",
    head_sha=HEAD,
    head_branch="feature",
    head_repository="octo/widget",
    repository="acme/widget",
    path=".github/workflows/torchscan.yml",
)
ORDER = {PARTED: 0, LATER: 1, "main": 2}


def pull(**fields: object) -> PullRequest:
    return replace(PULL, **fields)  # type: ignore[arg-type] # a builder


def run(**fields: object) -> ProducingRun:
    return replace(RUN, **fields)  # type: ignore[arg-type] # a builder


@dataclass
class FakeRemote:
    """main is PARTED, then LATER; the head left it at PARTED and MERGE joins both."""

    pulls: list[PullRequest] = field(default_factory=lambda: [PULL])
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    touched: list[str] | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def pulls_from(self, owner: str, branch: str) -> list[PullRequest]:
        self.asked.append((owner, branch))
        return self.pulls

    def compare(self, base: str, head: str) -> Comparison:
        if head == HEAD:
            status = {HEAD: "identical", PARTED: "ahead"}.get(base, "diverged")
            return Comparison(status=status, merge_base=base if status == "identical" else PARTED)
        if base not in ORDER or head not in ORDER:
            return Comparison(status="diverged", merge_base=PARTED)
        is_ahead = ORDER[base] < ORDER[head]
        status = "identical" if base == head else "ahead" if is_ahead else "behind"
        return Comparison(status=status, merge_base=base if is_ahead else head)

    def parents(self, sha: str) -> list[str]:
        return [LATER, HEAD] if sha == MERGE else []

    def read(self, sha: str, path: str) -> CommittedFile:
        return CommittedFile(text=self.files.get((sha, path)))

    def changed_paths(self, commits: Commits, merge_sha: str | None) -> list[str] | None:
        self.asked.append(("files", str(commits.measured_sha)))
        return self.touched


@dataclass
class FakeRuns:
    """Artifacts of runs, by run and name."""

    stored: dict[int, dict[str, bytes]] = field(default_factory=dict)
    first: str = "2026-01-01T00:00:00Z"

    def artifacts(self, run_id: int) -> list[Artifact]:
        return [
            Artifact(id=number, name=name, size_bytes=len(data), is_expired=False)
            for number, (name, data) in enumerate(self.stored.get(run_id, {}).items(), start=1)
        ]

    def archive(self, artifact: Artifact) -> bytes:
        return next(files[artifact.name] for files in self.stored.values() if artifact.name in files)

    def first_run_at(self, run: ProducingRun) -> str:
        return self.first


@dataclass
class FakeChecks:
    """Remembers statuses and check runs."""

    statuses: list[tuple[str, CommitStatus]] = field(default_factory=list)
    checks: list[tuple[str, CommitStatus]] = field(default_factory=list)

    def set_status(self, sha: str, status: CommitStatus) -> None:
        self.statuses.append((sha, status))

    def create_check(self, sha: str, status: CommitStatus) -> None:
        self.checks.append((sha, status))
