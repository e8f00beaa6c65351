"""What the pipeline needs from the world, as protocols: the edges satisfy them, tests put fakes in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ci_action.errors import PublishError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ci_action.core.config.committed import CommittedFile
    from ci_action.core.event import PullRequest
    from ci_action.core.handover.producing_run import ProducingRun
    from ci_action.core.plan import Commits
    from ci_action.core.spec import TargetResult, WorkerSpec
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.core.timing.lockstep import BenchmarkJob


OTHER_REFUSALS = {
    "is locked": "the conversation is locked, so nobody but its maintainers can comment",
    "archived": "the repository is archived, so nothing can be written to it",
    "ip allow list": "the organization admits only the addresses on its list, and this runner's is not one of them",
    "saml": "the token is not authorized for the organization's single sign-on",
    "access blocked": "GitHub has blocked the repository",
}
"""Words of GitHub's own in a 403 that is about no permission, and what they mean."""


class RefusedError(PublishError):
    """GitHub said no, and asking again would not change it. ``permissions``: what GitHub says it would accept."""

    def __init__(self, message: str, *, status: int, permissions: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.permissions = permissions

    @property
    def other_reason(self) -> str:
        """Return why GitHub refused, where it says so and it is no permission."""
        said = str(self).lower()
        return next((reason for word, reason in OTHER_REFUSALS.items() if word in said), "")

    @property
    def is_permission(self) -> bool:
        """Check whether a permission would change it. A 404 is none: what is not there stays so."""
        return self.status == 403 and not self.other_reason


class GoneError(PublishError):
    """What was asked for is not there any more. The message names it; no permission would bring it back."""


class UncertainError(PublishError):
    """A request that must not be sent twice may have been carried out, although its answer was lost."""


@dataclass(frozen=True, slots=True)
class Author:
    """As whom a token writes."""

    id: int | None
    login: str


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of a pull request, as GitHub lists it."""

    id: int
    body: str
    author_id: int | None
    author_login: str
    html_url: str
    is_by_app: bool = True
    """Whether GitHub calls the author a Bot: a person may carry the name of an app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullState:
    """A pull request as it is now, which may differ from what an event said of it."""

    head_sha: str
    is_open: bool = True
    is_locked: bool = False


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event of a pull request: a label set or taken away, or a forced push. ``at`` is UTC and sorts as text."""

    kind: str
    label: str
    actor: str
    at: str


class Git(Protocol):
    """The repository. Every call is hardened: no hooks, no filters, no submodule unless asked for."""

    def resolve(self, revision: str) -> str: ...
    def tip(self, branch: str) -> str: ...
    def snapshot(self) -> str: ...
    def parents(self, sha: str) -> list[str]: ...
    def merge_base(self, one: str, other: str) -> str: ...
    def ensure(self, sha: str) -> None: ...
    def fetch_lfs(self, *shas: str) -> None: ...
    def read(self, sha: str, path: str) -> CommittedFile: ...
    def changed_paths(self, base: str, head: str) -> list[str]: ...
    def worktree(
        self, sha: str, name: str, *, submodules: bool = False, lfs: bool = False
    ) -> AbstractContextManager[Path]: ...


class Measurer(Protocol):
    """Runs workers: one result per target of each spec, in order. A model's fault is a result, not an exception."""

    def measure(self, specs: Sequence[WorkerSpec], *, parallel: bool) -> list[list[TargetResult]]: ...
    def benchmark(self, jobs: Sequence[BenchmarkJob]) -> dict[str, BenchmarkEvidence]: ...


class GitHub(Protocol):
    """The REST calls that publishing needs. All pages, bounded retries, errors mapped to PublishError."""

    def pull_state(self, number: int) -> PullState: ...
    def comments(self, number: int) -> list[Comment]: ...
    def create_comment(self, number: int, body: str) -> Comment: ...
    def update_comment(self, comment_id: int, body: str) -> Comment | None: ...
    def delete_comment(self, comment_id: int) -> None: ...
    def author(self) -> Author | None: ...
    def timeline(self, number: int) -> list[TimelineEvent]: ...
    def can_write(self, login: str) -> bool: ...
    def pause(self, attempt: int) -> None: ...


class Sink(Protocol):
    """Where a job's words go: outputs, step summary, annotations, the artifact directory, the terminal."""

    def write_file(self, name: str, text: str) -> Path: ...
    def summary(self, markdown: str) -> None: ...
    def outputs(self, values: Mapping[str, str]) -> None: ...
    def annotate(self, kind: str, message: str, *, file: str | None = None, line: int | None = None) -> None: ...
    def progress(self, line: str) -> None: ...
    def replay(self, title: str, text: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How head stands to base: ahead, behind, identical or diverged; and where both parted."""

    status: str
    merge_base: str
    base_sha: str = ""
    """The commit that the name of base stands for now."""

    @property
    def has_base_as_ancestor(self) -> bool:
        """Whether everything of base is in head."""
        return self.status in {"ahead", "identical"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One artifact of a run. ``sha256`` is of its archive; it and ``created_at`` are empty where GitHub is silent."""

    id: int
    name: str
    size_bytes: int
    is_expired: bool
    sha256: str = ""
    created_at: str = ""
    """UTC, sorts as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStatus:
    """One line of a commit's checks. ``text`` is Markdown for a check's own page."""

    name: str
    is_passed: bool
    is_known: bool
    headline: str
    url: str = ""
    text: str = ""
    is_pending: bool = False


class RemoteRepository(Protocol):
    """The repository over the API, for a job that has no checkout."""

    def pulls_from(self, owner: str, branch: str) -> list[PullRequest]: ...
    def compare(self, base: str, head: str) -> Comparison: ...
    def parents(self, sha: str) -> list[str]: ...
    def read(self, sha: str, path: str) -> CommittedFile: ...
    def changed_paths(self, commits: Commits, merge_sha: str | None) -> list[str] | None: ...


class RunStore(Protocol):
    """What other runs of the repository left: their artifacts, and when they began."""

    def artifacts(self, run_id: int) -> list[Artifact]: ...
    def archive(self, artifact: Artifact) -> bytes: ...
    def first_run_at(self, run: ProducingRun) -> str: ...


class Checks(Protocol):
    """The lines beside a commit."""

    def set_status(self, sha: str, status: CommitStatus) -> None: ...
    def create_check(self, sha: str, status: CommitStatus) -> None: ...


class ConfigSource(Protocol):
    """Where a commit's files come from: git, or GitHub over the API."""

    def read(self, sha: str, path: str) -> CommittedFile: ...
    def changed_paths(self, base: str, head: str) -> list[str] | None: ...
