"""What happened on GitHub, as far as a measurement needs to know it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """The pull request behind an event. ``head_repository`` is None when its fork was deleted: still a fork."""

    number: int
    head_sha: str
    head_ref: str
    head_repository: str | None
    base_sha: str
    base_ref: str
    base_repository: str
    merge_sha: str | None = None
    """GitHub's own test merge of head into base, as far as it has one now."""

    @property
    def is_fork(self) -> bool:
        """Whether the head comes from anywhere but this repository."""
        return self.head_repository is None or self.head_repository.lower() != self.base_repository.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A measuring event. ``sha`` is what the job checked out (a merge commit on pull_request)."""

    name: str
    repository: str
    sha: str
    base_hint: str | None = None
    """The base that the event itself names: push's before, merge_group's base_sha, a dispatch input."""
    default_branch: str = "main"
    pull_request: PullRequest | None = None
    skip_reason: str | None = None
    """Why there is nothing to measure, where that is no error (a deleted branch)."""
