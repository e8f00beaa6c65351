"""The words of a judgement. One row per target and metric; one outcome for the run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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

    NONE = "none"  # no limit covers it
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
    is_new: bool = False
    """Base does not list the target, so its side is absent rather than missing."""
    accepted: bool = False
    """The limit is exceeded, and somebody who may do so accepted it: a warning instead of a failure."""


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
