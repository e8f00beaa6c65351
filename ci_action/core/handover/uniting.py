"""What several jobs measured, as one: the same rule for a matrix of this run and for the shards of another run.

Where a target was measured twice and both say the same, it counts once. Where they differ nobody can tell which of them
is right, so that target is unclear, and never a pass; every other target stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ci_action.core.spec import Side, TargetResult, a_failure, failed_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.timing.evidence import BenchmarkEvidence

TWICE = a_failure(
    "worker",
    "MeasuredTwice",
    "several jobs measured this target and their results differ: give every job of the matrix its own shard",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one job measured, or what several did together."""

    base: list[TargetResult]
    head: list[TargetResult]
    benchmarks: dict[str, BenchmarkEvidence]


def unite(jobs: Sequence[Measured]) -> Measured:
    """Join what several jobs measured of the same commits."""
    sides: dict[Side, dict[str, list[TargetResult]]] = {
        "base": _by_id(result for job in jobs for result in job.base),
        "head": _by_id(result for job in jobs for result in job.head),
    }
    unclear = {identity for found in sides.values() for identity, twins in found.items() if not _agree(twins)}
    timed = _by_id(evidence for job in jobs for evidence in job.benchmarks.values())
    base, head = ([_one(side, twins, unclear) for twins in found.values()] for side, found in sides.items())
    return Measured(
        base=base,
        head=head,
        benchmarks={
            identity: twins[0] if _agree(twins) else _unclear_timing(twins[0]) for identity, twins in timed.items()
        },
    )


def _by_id(items: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(item["id"], []).append(item)
    return found


def _agree(twins: Sequence[Any]) -> bool:
    """Check whether all say the same. How long it took is no part of a result."""
    first, *others = ({key: value for key, value in twin.items() if key != "seconds"} for twin in twins)
    return all(other == first for other in others)


def _one(side: Side, twins: list[TargetResult], unclear: set[str]) -> TargetResult:
    """Return the result of one side. Both sides are unclear where one is, since only a pair can be compared."""
    first = twins[0]
    if first["id"] not in unclear:
        return first
    return failed_result(first["id"], side, TWICE, first["seconds"])


def _unclear_timing(evidence: BenchmarkEvidence) -> BenchmarkEvidence:
    """Return a benchmark without its rounds: two honest ones never agree, and none is the better one."""
    return {
        **evidence,
        "rounds": [],
        "base": None,
        "head": None,
        "output_check": {"method": "skip", "verdict": "not_run", "message": ""},
        "machine": [],
        "failure": {"side": "head", "round": 1, "failure": TWICE},
        "notes": [],
    }
