"""What the owner's limits make of the rows, and what the run as a whole ends with.

A row is judged by every limit that covers it, and the strictest answer stays. What was not judged is never passed:
partial, missing and incomparable evidence follow the limit's own ``on-*`` keys.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ci_action.core.comparing import is_complete, known
from ci_action.core.metrics import METRICS
from ci_action.core.thresholds import is_better, is_over_max, is_relative, is_worse
from ci_action.core.timing.noise import word_under
from ci_action.core.timing.pairs import covers
from ci_action.core.verdict import Gate, Verdict, Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ci_action.core.config.entries import Limit
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Acceptance, Row, TargetVerdict

_SEVERITY = (Gate.NONE, Gate.PASS, Gate.WARN, Gate.UNKNOWN, Gate.FAIL)
EXIT_CODES: Mapping[Gate, int] = MappingProxyType({Gate.FAIL: 1, Gate.UNKNOWN: 3})
_UNJUDGED: Mapping[str, Gate] = MappingProxyType({"fail": Gate.UNKNOWN, "warn": Gate.WARN, "ignore": Gate.NONE})
"""What a policy says of evidence that is not there. "fail" ends the job too, but nothing was proven: exit 3, not 1."""
_PROVEN: Mapping[str, Gate] = MappingProxyType({"fail": Gate.FAIL, "warn": Gate.WARN})


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
    """Give the strictest of some answers."""
    return max(gates, key=_SEVERITY.index, default=Gate.NONE)


def judge_row(row: Row, limits: Sequence[Limit]) -> Row:
    """Judge one row by each limit that covers it, and keep the strictest answer with its limit."""
    judged = [_judge(row, limit) for limit in limits if limit.metric == row.metric and covers(limit, row.target)]
    return max(judged, key=lambda answer: _SEVERITY.index(answer.gate)) if judged else row


def _judge_target(verdict: TargetVerdict, limits: Sequence[Limit], accepted: Acceptance | None) -> TargetVerdict:
    rows = [judge_row(row, limits) for row in verdict.rows]
    if accepted:
        rows = [
            replace(row, gate=Gate.WARN, accepted=True)
            if row.gate is Gate.FAIL and row.word is not Word.REMOVED
            else row
            for row in rows
        ]
    return replace(verdict, rows=tuple(rows))


def _judge(row: Row, limit: Limit) -> Row:
    if row.metric in METRICS and METRICS[row.metric].timing:
        return _judge_timing(row, limit)
    if reason := _proof(row, limit):
        word = Word.REGRESSED if is_complete(row.head) else row.word
        return replace(row, word=word, gate=_PROVEN[limit.on_exceed], limit=limit, reason=reason)
    word = Word.IMPROVED if _is_improved(row, limit) else row.word
    return replace(row, word=word, gate=_unproven(row, limit), limit=limit)


def _proof(row: Row, limit: Limit) -> str:
    """Say how the limit is exceeded beyond doubt, or nothing. A lower bound can prove it; it can never clear it."""
    head, base = known(row.head), known(row.base)
    if head is None:
        return ""
    bound = "" if is_complete(row.head) else "the lower bound alone "
    if is_over_max(limit, head):
        return f"{bound}exceeds the cap" if bound else row.reason or "over the cap"
    comparable = row.word in {Word.CHANGED, Word.EVIDENCE_LOST}  # both words imply a complete base
    if comparable and base is not None and is_worse(limit, base, head):
        return f"{bound}exceeds the limit" if bound else row.reason or "over the limit"
    return ""


def _is_improved(row: Row, limit: Limit) -> bool:
    head, base = known(row.head), known(row.base)
    return row.word is Word.CHANGED and None not in (head, base) and is_better(limit, base, head)  # type: ignore[arg-type]


def _unproven(row: Row, limit: Limit) -> Gate:
    """Give the gate of a row that does not exceed its limit, or of which that is not known."""
    if row.word is Word.REMOVED:
        return _PROVEN[limit.on_removed]
    if not is_complete(row.head):
        return _UNJUDGED[limit.on_unknown]
    if not is_relative(limit):
        return Gate.PASS
    if row.word is Word.NEW:  # it has no base: only caps are checked
        return Gate.PASS if limit.max is not None else Gate.NONE
    if row.word is Word.NOT_COMPARABLE:
        return _UNJUDGED[limit.on_unknown]
    return Gate.PASS if is_complete(row.base) else _UNJUDGED[limit.on_missing_base]


def _judge_timing(row: Row, limit: Limit) -> Row:
    """Hold the pair interval against this limit, and head's own number against its cap."""
    head, base = known(row.head), known(row.base)
    if row.word is Word.INCONCLUSIVE:  # too few pairs, or a machine that moves the same code: nothing is judged
        return replace(row, gate=_UNJUDGED[limit.on_inconclusive], limit=limit)
    if head is not None and is_over_max(limit, head):
        return replace(row, gate=_PROVEN[limit.on_exceed], limit=limit, reason=row.reason or "over the cap")
    if is_relative(limit) and row.interval is not None and base is not None:
        row = replace(row, word=word_under(limit, base, row.interval))
    if is_relative(limit) and row.word is Word.REGRESSED:
        return replace(row, gate=_PROVEN[limit.on_exceed], limit=limit)
    if is_relative(limit) and row.word is Word.INCONCLUSIVE:
        return replace(row, gate=_UNJUDGED[limit.on_inconclusive], limit=limit)
    return replace(row, gate=_unproven(row, limit), limit=limit)


def _failed_gate(target: TargetVerdict, plan: Plan) -> Gate:
    """Give the gate of a target that head could not measure.

    Where limits cover it their ``on-unknown`` decides, row by row. Where none does, a target that base lists must still
    be measured; a target that is new, or a run that only reports, may not turn a job red.
    """
    is_open = target.failure("head") is not None or bool(target.unproven)
    if not is_open or any(row.limit is not None for row in target.rows):
        return Gate.NONE
    listed = plan.base_config is not None and any(entry.id == target.id for entry in plan.base_config.targets)
    return Gate.UNKNOWN if listed else Gate.WARN
