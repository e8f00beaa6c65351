"""A run split over several jobs: which targets a job measures, and what its artifacts are called.

The list of targets is never taken from the shards: it is base's config, so a lost shard leaves targets "not measured".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ci_action.core.handover.uniting import Measured, unite
from ci_action.errors import ConfigError, EvidenceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.handover.received_evidence import Received
    from ci_action.core.plan import Plan

MOST_SHARDS = 256
"""GitHub starts no more jobs of one matrix."""

_SHARD = re.compile(r"([1-9]\d{0,2})/([1-9]\d{0,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Job ``number`` (from 1) of ``of``."""

    number: int
    of: int

    @property
    def suffix(self) -> str:
        """What sets this job's artifacts apart."""
        return f"-{self.number}-of-{self.of}"


def parse_shard(text: str) -> Shard | None:
    """Read ``2/4``; nothing is no shard. Raises ConfigError."""
    if not text:
        return None
    found = _SHARD.fullmatch(text)
    if not found or not int(found[1]) <= int(found[2]) <= MOST_SHARDS:
        raise ConfigError(f"input shard: found {text[:60]!r}; accepted: number/total, such as 2/4, up to {MOST_SHARDS}")
    return Shard(number=int(found[1]), of=int(found[2]))


def matrix(plan: Plan, shards: int) -> dict[str, list[str]]:
    """Give the matrix of a job: no more shards than there are targets to measure, and at least one."""
    total = max(1, min(shards, sum(not target.skipped for target in plan.targets)))
    return {"shard": [f"{number}/{total}" for number in range(1, total + 1)]}


def only(plan: Plan, shard: Shard | None) -> Plan:
    """Give the plan of one job: every ``of``-th target that is not skipped. All jobs together have each once."""
    if shard is None:
        return plan
    measured = [target for target in plan.targets if not target.skipped]
    return replace(plan, targets=tuple(measured[shard.number - 1 :: shard.of]))


def artifact_name(name: str, shard: Shard | None) -> str:
    """Name a job's report."""
    return f"{name}{shard.suffix if shard else ''}"


def evidence_name(name: str, shard: Shard | None) -> str:
    """Name a job's evidence."""
    return f"{name}-evidence{shard.suffix if shard else ''}"


def evidence_group(name: str, artifact: str) -> int | None:
    """Say to how many shards an artifact's name belongs (0: none, it is whole); None where it is no evidence."""
    return _group(evidence_name(name, None), artifact)


def report_group(name: str, artifact: str) -> int | None:
    """Say the same of a report."""
    return _group(artifact_name(name, None), artifact)


def _group(whole: str, artifact: str) -> int | None:
    if artifact == whole:
        return 0
    rest = artifact.removeprefix(f"{whole}-")
    found = _SHARD.fullmatch(rest.replace("-of-", "/")) if rest != artifact and rest.count("-of-") == 1 else None
    return int(found[2]) if found and int(found[1]) <= int(found[2]) <= MOST_SHARDS else None


def joined(shards: Sequence[Received]) -> Received:
    """Join what several jobs measured of the same commits. Raises EvidenceError."""
    first = shards[0]
    commits = {(item.base_sha, item.head_sha, item.measured_sha) for item in shards}
    if len(commits) != 1:
        raise EvidenceError("the shards measured different commits: run the whole workflow again")
    whole = unite([Measured(base=one.base, head=one.head, benchmarks=one.benchmarks) for one in shards])
    return replace(first, base=whole.base, head=whole.head, benchmarks=whole.benchmarks)
