"""What all timings of a run share: one error budget, split by Holm, and the machine's control against itself. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from ci_action.core.timing.assembling import side_report
from ci_action.core.timing.holm import holm_levels
from ci_action.core.timing.noise import Control, bars, control
from ci_action.core.timing.pairs import ALPHA, covers, gated_timings, needed_pairs
from ci_action.core.timing.rounds import log_ratios
from ci_action.core.timing.wilcoxon import p_above

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci_action.core.config.entries import Limit
    from ci_action.core.plan import Plan
    from ci_action.core.timing.evidence import BenchmarkEvidence

Timing = tuple[str, str]
"""A target's id and the name of a metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The level of every gated timing, how many pairs those need, and what base against base said."""

    levels: Mapping[Timing, float]
    needed_pairs: int
    control: Control | None

    def level(self, timing: Timing) -> float:
        """Give a timing's two-sided level; one that no limit covers is only described, at the whole of alpha."""
        return self.levels.get(timing, ALPHA)


def family(plan: Plan, evidence: Mapping[str, BenchmarkEvidence]) -> Family:
    """Share the error budget among the timings that base's limits cover."""
    limits = plan.base_config.limits if plan.base_config else ()
    gated = gated_timings([planned.base for planned in plan.targets if planned.base], limits)
    p_values = [_p_value(timing, evidence.get(timing[0]), limits) for timing in gated]
    return Family(
        levels=dict(zip(gated, holm_levels(p_values, ALPHA), strict=True)),
        needed_pairs=needed_pairs(len(gated)),
        control=control([value for item in evidence.values() for value in log_ratios(item["rounds"], "control")]),
    )


def log_changes(evidence: BenchmarkEvidence, metric: str) -> list[float]:
    """Give ln(head/base) of a metric, pair by pair. Throughput is units over time: its logarithm turns round."""
    base, head = evidence["base"], evidence["head"]
    if base is None or head is None:
        return []
    values = log_ratios(evidence["rounds"], "pair")
    if metric != "throughput":
        return values
    units = log(head["context"]["work_units"] / base["context"]["work_units"])
    return [units - value for value in values]


def _p_value(timing: Timing, evidence: BenchmarkEvidence | None, limits: Sequence[Limit]) -> float:
    """Give the p-value of the most generous limit on a timing.

    One interval answers all limits of a timing. Holm may step past it only where even the most generous is exceeded:
    else a wrong answer to that one could hide behind a right answer to a stricter one.
    """
    identity, metric = timing
    report = side_report(evidence, "base") if evidence else None
    base = report["totals"][metric]["value"] if report else None
    changes = log_changes(evidence, metric) if evidence else []
    own = [limit for limit in limits if limit.metric == metric and covers(limit, identity)]
    if not base or not changes:
        return 1.0
    found = [bar for limit in own for bar in bars(limit, base)]
    return max((p_above([bar.direction * value for value in changes], bar.height) for bar in found), default=1.0)
