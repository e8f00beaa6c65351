"""The words of a judgement. One row per target and metric; one outcome for the run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ci_action.core.config import Limit
from ci_action.core.spec import Failure
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The run's judgement: outcome pass, warn, fail or unknown; the exit code by the documented precedence."""

    outcome: Gate
    exit_code: int
    targets: tuple[TargetVerdict, ...]
    notes: tuple[str, ...] = ()
    document: dict[str, Any] | None = None
