"""Row statuses and the outcome of a run: one row per target and metric, one verdict per run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Literal

from ci_action.core.config.entries import Limit
from ci_action.core.spec import Failure
from ci_action.core.timing.evidence import BenchmarkEvidence
from torchscan.report.diff import ReportDiff
from torchscan.report.metric import MetricResult


class Word(StrEnum):
    """What is known about one metric of one target. The same words everywhere: comment, pages, terminal, JSON."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    IMPROVED = "improved"
    REGRESSED = "regressed"
    WITHIN_NOISE = "within noise"
    INCONCLUSIVE = "inconclusive"
    EVIDENCE_LOST = "evidence lost"
    NOT_COMPARABLE = "not comparable"
    NEW = "new"
    REMOVED = "removed"
    NOT_MEASURED = "not measured"


class Gate(StrEnum):
    """What a limit made of a row."""

    NONE = "none"  # no limit covers it, or a policy of the limit says to ignore what could not be judged
    PASS = "pass"  # noqa: S105 # a verdict, not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A relative change with its confidence interval, as ratios minus one (0.05 is +5%)."""

    estimate: float
    low: float
    high: float
    confidence: float
    pairs: int


class Presence(Enum):
    """Which sides list the target. An absent side is not a missing measurement."""

    BOTH = "both"
    NEW = "new"  # head alone
    REMOVED = "removed"  # base alone


class Basis(Enum):
    """What a row's gate rests on."""

    NOTHING = "nothing"  # no limit covers the row
    EVIDENCE = "evidence"  # the values decided
    POLICY = "policy"  # the values could not decide, so one of the limit's on-* keys did


Policy = Literal["on_unknown", "on_inconclusive", "on_missing_base"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """Why a row may not pass although its values are there, and which of a limit's keys then decides."""

    reason: str
    policy: Policy
    can_fail: bool = False
    """The values still prove an exceeded limit: what is missing could only have added to the evidence."""
    is_of_head: bool = False
    """Head's own value is in doubt, so that a cap cannot be passed either. Else only the comparison is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One metric of one target on both sides, and what the owner's limit makes of it."""

    target: str
    metric: str
    base: MetricResult | None
    head: MetricResult | None
    word: Word
    gate: Gate = Gate.NONE
    limit: Limit | None = None
    reason: str = ""
    interval: Interval | None = None
    presence: Presence = Presence.BOTH
    shortfall: Shortfall | None = None
    is_within_scatter: bool = False
    """Repeated measurements of both sides overlap, so the difference of their medians proves nothing."""
    basis: Basis = Basis.NOTHING
    accepted: bool = False
    """The limit is exceeded, and somebody who may do so accepted it: a warning instead of a failure."""

    @property
    def is_new(self) -> bool:
        """Whether base does not list the target."""
        return self.presence is Presence.NEW

    @property
    def is_removed(self) -> bool:
        """Whether head does not list the target."""
        return self.presence is Presence.REMOVED


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFailure:
    """A target that one side could not measure."""

    side: str
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetVerdict:
    """All rows of one target, where the change comes from, and what failed."""

    id: str
    rows: tuple[Row, ...]
    diff: ReportDiff | None = None
    failures: tuple[SideFailure, ...] = ()
    notes: tuple[str, ...] = ()
    benchmark: BenchmarkEvidence | None = None
    """The raw rounds behind the timing rows, and how the outputs were checked. None where nothing was timed."""
    skipped: str = ""
    """Why nothing of it was measured, at the owner's wish. Neither a pass nor a failure."""
    unproven: str = ""
    """Why nothing is known of it, although no side failed. Never a pass."""

    def failure(self, side: str) -> Failure | None:
        """Give what one side failed with."""
        return next((item.failure for item in self.failures if item.side == side), None)

    @property
    def is_measured(self) -> bool:
        """Whether head has any number of this target."""
        return any(row.head is not None and row.head["known_value"] is not None for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Who accepted this head's exceeded limits, with which label. Read live by the edges; it counts for one commit."""

    label: str
    actor: str
    head_sha: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The run's judgement: outcome pass, warn, fail or unknown; the exit code by the documented precedence."""

    outcome: Gate
    exit_code: int
    targets: tuple[TargetVerdict, ...]
    notes: tuple[str, ...] = ()
    accepted: Acceptance | None = None
    document: dict[str, Any] | None = None
