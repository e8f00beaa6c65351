"""What will be measured: two commits, and each side's own build of each target."""

from __future__ import annotations

from dataclasses import dataclass

from ci_action.core.config import Config, Target
from ci_action.core.event import PullRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """The two measured commits and how base was chosen ("first parent of the merge commit", "merge base with main")."""

    base_sha: str | None
    head_sha: str
    measured_sha: str
    """What head's worktree holds: the merge commit on pull_request, else the head itself."""
    base_reason: str
    base_ref: str = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTarget:
    """One identity with the entry of each side that has it. Limits and pairs follow base; factory follows each side."""

    id: str
    base: Target | None
    head: Target | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is decided before anything runs."""

    commits: Commits
    targets: tuple[PlannedTarget, ...]
    base_config: Config | None
    """Whose word counts: limits and policies. None on base means report only."""
    head_config: Config | None
    config_notes: tuple[str, ...] = ()
    """Sentences about config keys that the pull request edits and that take effect after the merge."""
    pull_request: PullRequest | None = None
    working_directory: str = "."
