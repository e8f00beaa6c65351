"""What will be measured: two commits, and each side's own build of each target."""

from __future__ import annotations

from dataclasses import dataclass

from ci_action.core.config.entries import Config, Target
from ci_action.core.event import PullRequest
from ci_action.core.spec import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """The two measured commits and how base was chosen ("first parent of the merge commit", "merge base with main")."""

    base_sha: str | None
    head_sha: str
    measured_sha: str
    """What head's worktree holds: the merge commit on pull_request, else the head itself."""
    base_reason: str
    base_ref: str = "base"
    policy_sha: str | None = None
    """The commit whose config judges: the tip of the base branch, where that is known. Base itself where it is None."""
    head_config_sha: str | None = None
    """The commit whose config is head's, where ``measured_sha`` is a merge that nobody vouches for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTarget:
    """One identity with the entry of each side that has it. Limits and pairs follow base; factory follows each side."""

    id: str
    base: Target | None
    head: Target | None
    ruling: Target | None = None
    """The entry of the config that judges, where that is not base's own."""
    skipped: str = ""
    """Why it is not measured at the owner's wish: nothing under its ``paths`` changed. Empty where it is measured."""
    unproven: str = ""
    """Why it is not known whether another run, which left no result of it, was right to skip it. Never a pass."""

    def side(self, name: Side) -> Target | None:
        """Give one side's own entry."""
        return self.base if name == "base" else self.head

    @property
    def policy(self) -> Target:
        """The entry whose word counts: of the config that judges, or head's where the target is new."""
        entry = self.ruling or self.base or self.head
        assert entry is not None, "make_plan never builds a target that neither side has"  # noqa: S101 # an invariant
        return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is decided before anything runs."""

    commits: Commits
    targets: tuple[PlannedTarget, ...]
    base_config: Config | None
    """Whose word counts: limits and policies, of the base branch. None means report only."""
    head_config: Config | None
    own_base_config: Config | None = None
    """What the measured base commit says of its own code, where another commit of the base branch judges."""
    config_notes: tuple[str, ...] = ()
    """Sentences about config keys that the pull request edits and that take effect after the merge."""
    pull_request: PullRequest | None = None
    working_directory: str = "."
    changed_dependencies: tuple[str, ...] = ()
    """Files that change what is installed, where both sides share one environment: their effect is not measured."""
    base_fault: str = ""
    """Why base's config is not known, as a clause: it is not valid, or base cannot be had. Then nothing is judged."""

    @property
    def policy(self) -> Config:
        """The config whose run keys count (threads, seed, limits of time and memory, pass-env): base's, else head's."""
        config = self.base_config or self.head_config
        assert config is not None, "make_plan never builds a plan without a config"  # noqa: S101 # an invariant
        return config

    def side_config(self, side: Side) -> Config | None:
        """Return what says how a side is built: its install command and import paths."""
        return self.head_config if side == "head" else self.own_base_config or self.base_config

    @property
    def is_report_only(self) -> bool:
        """Whether base has no config that counts: nothing is judged, since a pull request sets no limits of its own."""
        return self.base_config is None

    @property
    def why_report_only(self) -> str:
        """Return why nothing is judged, as a clause. It means something only where nothing is."""
        return self.base_fault or "base has no config"
