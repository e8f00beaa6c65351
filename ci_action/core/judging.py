"""What the owner's limits make of all rows, and what the run as a whole ends with.

A row is judged by every limit that covers it (``deciding``), and the strictest answer stays.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ci_action.core.deciding import decide
from ci_action.core.timing.pairs import covers
from ci_action.core.verdict import Basis, Gate, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ci_action.core.config.entries import Limit
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Acceptance, Row, TargetVerdict

_SEVERITY = (Gate.NONE, Gate.PASS, Gate.WARN, Gate.UNKNOWN, Gate.FAIL)
EXIT_CODES: Mapping[Gate, int] = MappingProxyType({Gate.FAIL: 1, Gate.UNKNOWN: 3})


def judge(plan: Plan, verdicts: Sequence[TargetVerdict], *, accepted: Acceptance | None = None) -> Verdict:
    """Judge every row by base's limits.

    Rows of timing metrics come in with their word and interval: only the gate is applied here. ``accepted`` turns
    exceeded limits into warnings for the head it was given for, never what could not be judged.
    """
    limits = plan.base_config.limits if plan.base_config else ()
    valid = accepted if accepted and accepted.head_sha == plan.commits.head_sha else None
    targets = tuple(_judge_target(verdict, limits, valid) for verdict in verdicts)
    gates = [row.gate for target in targets for row in target.rows]
    gates += [_failed_gate(target, plan) for target in targets]
    outcome = worst(gates)
    if not any(target.is_measured or target.skipped for target in targets):
        outcome = worst((outcome, Gate.UNKNOWN))  # "no verdict" is not "pass"
    if outcome is Gate.NONE:
        outcome = Gate.PASS
    notes = list(plan.config_notes)
    if accepted and valid is None:
        notes.append("The accept label was set for another commit, so it does not count for this one.")
    return Verdict(
        outcome=outcome,
        exit_code=EXIT_CODES.get(outcome, 0),
        targets=targets,
        notes=tuple(notes),
        accepted=valid if valid and any(row.accepted for target in targets for row in target.rows) else None,
    )


def worst(gates: Iterable[Gate]) -> Gate:
    """Return the strictest of some answers."""
    return max(gates, key=_SEVERITY.index, default=Gate.NONE)


def judge_row(row: Row, limits: Sequence[Limit]) -> Row:
    """Judge one row by each limit that covers it, and keep the strictest answer with its limit."""
    found = [
        (limit, decide(row, limit)) for limit in limits if limit.metric == row.metric and covers(limit, row.target)
    ]
    if not found:
        return row
    limit, decision = max(found, key=lambda pair: pair[1].rank)
    return replace(
        row, word=decision.word, gate=decision.gate, basis=decision.basis, limit=limit, reason=decision.reason
    )


def _judge_target(verdict: TargetVerdict, limits: Sequence[Limit], accepted: Acceptance | None) -> TargetVerdict:
    rows = [judge_row(row, limits) for row in verdict.rows]
    if accepted:
        rows = [
            replace(row, gate=Gate.WARN, accepted=True) if row.gate is Gate.FAIL and not row.is_removed else row
            for row in rows
        ]
    return replace(verdict, rows=tuple(rows))


def _failed_gate(target: TargetVerdict, plan: Plan) -> Gate:
    """Return the gate of a target that head could not measure to its end.

    Where a limit's policy has decided what the failure left open, that stands. Where no limit covers the target, or all
    that do were judged before it failed, a target that base lists must still be measured; one that is new, or a run
    that only reports, may not turn a job red.
    """
    is_open = target.failure("head") is not None or bool(target.unproven)
    if not is_open or any(row.basis is Basis.POLICY for row in target.rows):
        return Gate.NONE
    listed = plan.base_config is not None and any(entry.id == target.id for entry in plan.base_config.targets)
    return Gate.UNKNOWN if listed else Gate.WARN
