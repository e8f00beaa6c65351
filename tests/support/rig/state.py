"""What the fake GitHub remembers: one repository, its pull requests, and every request that was made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.rig.openapi import minimal

ACTIONS_BOT = ("github-actions[bot]", 41898282)
BODY_LIMIT_CHARACTERS = 65_536
NOW = "2026-01-01T00:00:00Z"
LATER = "2026-01-02T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that reached the fake, and the status that it answered."""

    method: str
    path: str
    headers: dict[str, str]
    json: Any
    status: int


@dataclass(slots=True, kw_only=True)
class Fault:
    """What goes wrong with ``times`` requests that match, after ``skip`` of them: late, cut off, or another answer."""

    method: str = ""
    path: str = ""
    skip: int = 0
    times: int = 1
    is_carried_out: bool = False
    """Whether the request takes effect all the same, and only its answer is lost."""
    delay_seconds: float = 0.0
    drops_connection: bool = False
    status: int | None = None
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    raw_body: bytes | None = None

    def hits(self, method: str, path: str) -> bool:
        """Whether this request is to be hit; counts those that are let through."""
        if self.times == 0 or self.method not in {"", method} or re.search(self.path, path) is None:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


@dataclass(slots=True, kw_only=True)
class PullRequestState:
    """A pull request as GitHub knows it now, which may differ from what an event said."""

    number: int
    head_sha: str = "a" * 40
    base_sha: str = "b" * 40
    head_ref: str = "feature"
    base_ref: str = "main"
    head_repository: str = "acme/widget"
    state: str = "open"
    is_locked: bool = False
    merge_sha: str | None = None
    labels: list[str] = field(default_factory=list)
    timeline: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class GitHubState:
    """Everything the fake answers from. Tests set it up and read it in this process; the runner speaks HTTP to it."""

    repository: str = "acme/widget"
    remote: Path | None = None
    """A bare repository that answers commit comparisons and file contents."""
    tree_limit: int = 100_000
    """How many entries a recursive tree lists before it is truncated."""
    viewer: tuple[str, int] = ACTIONS_BOT
    can_write: bool = True
    """False is the read-only token that a fork's pull request gets."""
    pull_requests: dict[int, PullRequestState] = field(default_factory=dict)
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    """Login to ``admin``, ``write``, ``read`` or ``none``."""
    runs: dict[int, dict[str, Any]] = field(default_factory=dict)
    artifacts: dict[int, dict[str, Any]] = field(default_factory=dict)
    artifact_runs: dict[int, int] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    check_runs: dict[int, dict[str, Any]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    journal: list[Exchange] = field(default_factory=list)
    last_id: int = 1000

    def next_id(self) -> int:
        """Give an id that was never given before."""
        self.last_id += 1
        return self.last_id

    def comments_of(self, number: int) -> list[dict[str, Any]]:
        """Give a pull request's comments, oldest first."""
        return [comment for comment in self.comments.values() if comment["issue_url"].endswith(f"/issues/{number}")]

    def add_comment(self, number: int, body: str, *, author: tuple[str, int] | None = None) -> dict[str, Any]:
        """Store a comment, by the token's own identity unless another author is named."""
        login, user_id = author or self.viewer
        identifier = self.next_id()
        api = f"http://127.0.0.1/repos/{self.repository}"
        self.comments[identifier] = minimal(
            "issue-comment",
            id=identifier,
            body=body,
            user=user(login, user_id),
            url=f"{api}/issues/comments/{identifier}",
            issue_url=f"{api}/issues/{number}",
            html_url=f"https://github.com/{self.repository}/pull/{number}#issuecomment-{identifier}",
        )
        return self.comments[identifier]


def labeled(name: str, login: str, *, at: str = LATER) -> dict[str, Any]:
    """Give the timeline's entry of a label that was set."""
    event = minimal("labeled-issue-event", event="labeled", actor=user(login, 583231), created_at=at)
    return event | {"label": {"name": name, "color": "ff0000"}}


def user(login: str, user_id: int) -> dict[str, Any]:
    """Give a user the way GitHub shows one; apps carry ``[bot]`` in their login."""
    return minimal("simple-user", login=login, id=user_id, type="Bot" if login.endswith("[bot]") else "User")
