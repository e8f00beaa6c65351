"""How many lockstep pairs a timing needs before its exact test can reach the level that Holm leaves it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.config.entries import Limit, Target

ALPHA = 0.05
"""The family's level: all timing limits of a run together fail falsely at most this often."""

TIMED = ("latency", "throughput")


def needed_pairs(gated: int) -> int:
    """Give the smallest n with 2^(1-n) <= 0.05/k, for k gated timings.

    2^(1-n) is the smallest two-sided p-value of the exact Wilcoxon test over n pairs (all differences of one sign:
    2 of the 2^n sign patterns). Holm tests the smallest of k p-values at 0.05/k, so a lower n could never decide.
    k=1: 2^-5 = 0.031 <= 0.05, so 6. k=2: 2^-6 = 0.0156 <= 0.025, so 7.
    """
    pairs = 1
    while 2.0 ** (1 - pairs) > ALPHA / max(gated, 1):
        pairs += 1
    return pairs


def covers(limit: Limit, target_id: str) -> bool:
    """Whether one of the limit's patterns matches the target."""
    return any(fnmatchcase(target_id, pattern) for pattern in limit.targets)


def gated_timings(targets: Sequence[Target], limits: Sequence[Limit]) -> list[tuple[str, str]]:
    """List the (target, metric) pairs with a timing that some limit covers, each once."""
    return [
        (target.id, metric)
        for target in targets
        if target.benchmark is not None
        for metric in TIMED
        if metric in target.benchmark.metrics
        and any(limit.metric == metric and covers(limit, target.id) for limit in limits)
    ]
