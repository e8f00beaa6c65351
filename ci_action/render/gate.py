"""The gate in words. "Passed" is said of what was judged, and of nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.verdict import Gate, Word

if TYPE_CHECKING:
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Row, Verdict

_UNJUDGED = frozenset({Word.EVIDENCE_LOST, Word.NOT_COMPARABLE, Word.NOT_MEASURED, Word.INCONCLUSIVE, Word.NEW})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """``status`` is passed, failed or not set; ``why`` is empty where it is obvious."""

    status: str
    why: str = ""


def gate_line(verdict: Verdict, plan: Plan) -> GateLine:
    """Say what the owner's limits make of the run."""
    rows = [row for target in verdict.targets for row in target.rows]
    judged = [row for row in rows if row.gate is not Gate.NONE]
    open_rows = [row for row in judged if is_open(row)]
    if verdict.outcome is Gate.FAIL:
        return GateLine(status="failed")
    if verdict.outcome is Gate.UNKNOWN:
        return GateLine(status="failed", why=_why_unknown(verdict, open_rows))
    if not judged:
        why = plan.why_report_only if plan.is_report_only else "no limit covers what was measured"
        return GateLine(status="not set", why=f"{why}: this only reports")
    if verdict.accepted:
        return GateLine(status="passed", why="what exceeds a limit was accepted, see below")
    if open_rows and len(open_rows) == len(judged):
        return GateLine(status="not judged", why=f"{_metrics(len(open_rows))} could not be judged; policy: warn")
    reasons = []
    removed = {row.target for row in judged if row.word is Word.REMOVED}
    if any(row.gate is Gate.WARN and row.word is not Word.REMOVED and not is_open(row) for row in judged):
        reasons.append("with warnings")
    if removed:
        reasons.append(f"{len(removed)} target{'' if len(removed) == 1 else 's'} removed")
    if open_rows:
        reasons.append(f"{_metrics(len(open_rows))} could not be judged")
    return GateLine(status="passed", why="; ".join(reasons))


def is_open(row: Row) -> bool:
    """Whether a gated row could not be judged."""
    return row.gate is Gate.UNKNOWN or (row.gate is Gate.WARN and row.word in _UNJUDGED and not row.accepted)


def _why_unknown(verdict: Verdict, open_rows: list[Row]) -> str:
    if not verdict.targets:
        return "nothing was measured"
    if not any(target.is_measured for target in verdict.targets):
        return "nothing of head was measured"
    if any(target.failure("head") or target.unproven for target in verdict.targets):
        return "a listed target must be measured"
    return f"{_metrics(len(open_rows))} could not be judged" if open_rows else "the limits could not be judged"


def _metrics(count: int) -> str:
    return f"{count} gated metric{'' if count == 1 else 's'}"
