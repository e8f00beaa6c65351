"""Which targets another run may have skipped: what it left out counts as skipped only where that can be proven."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from ci_action.core.plan import Plan, PlannedTarget

UNLISTED = "GitHub does not list all files that differ between the measured commits"
TOUCHED = "it cannot be proven that the measured merge leaves the files under them alone"
UPDATE = "update the pull request's branch, so that it is measured again"


def settle_skips(plan: Plan, measured: Collection[str], *, are_paths_known: bool) -> Plan:
    """Return the plan of a publishing run, given the ids of the targets that the measuring run left results of.

    A result is judged even where the target need not have been measured. A target with ``paths`` and without a result
    is skipped where nothing under them changed for certain; else nothing is known of it, and the plan says why.
    """
    reason = TOUCHED if are_paths_known else UNLISTED
    return replace(plan, targets=tuple(_settled(target, target.id in measured, reason) for target in plan.targets))


def _settled(target: PlannedTarget, is_measured: bool, reason: str) -> PlannedTarget:
    if is_measured:
        return replace(target, skipped="")
    ruling = target.ruling or target.base
    may_be_skipped = ruling is not None and bool(ruling.paths) and ruling == target.head
    if target.skipped or not may_be_skipped:
        return target
    paths = ", ".join(target.policy.paths)
    return replace(target, unproven=f"the measuring run left no result; its paths are {paths}, and {reason}: {UPDATE}")
