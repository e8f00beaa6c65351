"""Hold the results of both sides against each other: one row per target and metric, each with a word.

No row carries a number that was not measured. What an owner's limit makes of a row is decided elsewhere.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ci_action.core.comparability import context_changes, diff_and_refusals
from ci_action.core.metrics import ANALYSIS_METRICS, METRICS
from ci_action.core.spec import a_failure
from ci_action.core.verdict import Presence, Row, Shortfall, SideFailure, TargetVerdict, Word
from torchscan.report.analysis import NOT_REQUESTED
from torchscan.report.metric import unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci_action.core.plan import Plan, PlannedTarget
    from ci_action.core.spec import Side, TargetResult
    from torchscan.report.diff import ReportDiff
    from torchscan.report.metric import MetricResult, Number

_SIDES = ("base", "head")
_NO_RESULT = a_failure("worker", "NoResult", "the worker left no result")


def compare(plan: Plan, base: Sequence[TargetResult], head: Sequence[TargetResult]) -> tuple[TargetVerdict, ...]:
    """Compare every target of the plan, in the plan's order. A target without a result is a failure, never a gap."""
    results = {"base": {result["id"]: result for result in base}, "head": {result["id"]: result for result in head}}
    return tuple(
        _compare_target(planned, results["base"].get(planned.id), results["head"].get(planned.id))
        for planned in plan.targets
    )


def known(result: MetricResult | None) -> Number | None:
    """Return a measured number or its lower bound; what is not finite was not measured."""
    number = None if result is None else result["known_value"]
    return None if number is None or not isfinite(number) else number


def is_complete(result: MetricResult | None) -> bool:
    """Check whether a number covers all of its scope. A result that contradicts itself does not."""
    return (
        result is not None
        and result["status"] == "complete"
        and known(result) is not None
        and result["value"] == result["known_value"]
    )


def _compare_target(planned: PlannedTarget, base: TargetResult | None, head: TargetResult | None) -> TargetVerdict:
    if planned.skipped:
        return TargetVerdict(id=planned.id, rows=(), skipped=planned.skipped)
    if planned.unproven:
        return _unproven_target(planned)
    failures = (*_failure("base", planned, base), *_failure("head", planned, head))
    totals = {"base": _totals(base), "head": _totals(head)}
    diff, refused = _diff(base, head)
    missing = {item.side: item.failure["type"] for item in failures}
    rows = [
        compared_row(
            planned,
            metric,
            totals["base"].get(metric),
            totals["head"].get(metric),
            refusal=refused.get(metric, ""),
            missing=missing,
            has_failed=bool(failures),
        )
        for metric in _expected(planned, totals)
    ]
    notes = () if diff is None or not refused else ("not every metric could be compared",)
    return TargetVerdict(id=planned.id, rows=tuple(rows), diff=diff, failures=failures, notes=notes)


def compared_row(
    planned: PlannedTarget,
    metric: str,
    base: MetricResult | None,
    head: MetricResult | None,
    *,
    refusal: str,
    missing: Mapping[str, str],
    has_failed: bool,
) -> Row:
    """Return the row of two values. Its word follows from them alone, whatever else of the target failed.

    ``refusal`` says why the values may not be compared; ``missing`` why a side may have none; ``has_failed`` tells a
    value that a failure cost from one that the code can no longer be measured for.
    """
    presence = presence_of(planned)
    if presence is Presence.BOTH:
        word, reason = _word(base, head, refusal, missing, has_failed=has_failed)
    elif presence is Presence.NEW and has_failed and known(head) is None:
        word, reason = Word.NOT_MEASURED, _why_missing({"head": head}, missing)
    else:
        word, reason = (Word.NEW if presence is Presence.NEW else Word.REMOVED), ""
    shortfall = Shortfall(reason=refusal, policy="on_unknown") if word is Word.NOT_COMPARABLE else None
    return Row(
        target=planned.id,
        metric=metric,
        base=base,
        head=head,
        word=word,
        reason=reason,
        presence=presence,
        shortfall=shortfall,
    )


def presence_of(planned: PlannedTarget) -> Presence:
    """Return which sides list a target."""
    if planned.head is None:
        return Presence.REMOVED
    return Presence.NEW if planned.base is None else Presence.BOTH


def _unproven_target(planned: PlannedTarget) -> TargetVerdict:
    """Return a target of which nothing is known: each metric that it asks for is a row that was not measured."""
    rows = tuple(
        compared_row(
            planned, metric, None, None, refusal="", missing=dict.fromkeys(_SIDES, "no result"), has_failed=True
        )
        for metric in _expected(planned, {})
    )
    return TargetVerdict(id=planned.id, rows=rows, unproven=planned.unproven)


def _failure(side: Side, planned: PlannedTarget, result: TargetResult | None) -> tuple[SideFailure, ...]:
    if planned.side(side) is None:
        return ()
    failure = _NO_RESULT if result is None else result["failure"]
    return (SideFailure(side=side, failure=failure),) if failure else ()


def _totals(result: TargetResult | None) -> Mapping[str, MetricResult]:
    report = result["report"] if result and not result["failure"] else None
    return {name: _finite(total) for name, total in report["totals"].items()} if report else {}


def _finite(total: MetricResult) -> MetricResult:
    """Give a total as it is; one that holds NaN or infinity was not measured."""
    if total["known_value"] is None or known(total) is not None:
        return total
    return unavailable(unit=total["unit"], scope=total["scope"], method=total["method"])


def _expected(planned: PlannedTarget, totals: Mapping[str, Mapping[str, MetricResult]]) -> list[str]:
    """List the analysis metrics that one of the sides asks for, in report order.

    Base's own entry stays in the list: a pull request that turns the analysis off loses evidence, not rows.
    """
    asked = {name for entry in (planned.base, planned.head) if entry for name in ANALYSIS_METRICS[entry.analysis]}
    sides = [side for side in totals.values() if side]
    never = {
        name
        for name in asked
        if sides and all(name in side and side[name]["method"] == NOT_REQUESTED for side in sides)
    }
    return [name for name in METRICS if name in asked - never]


def _diff(base: TargetResult | None, head: TargetResult | None) -> tuple[ReportDiff | None, dict[str, str]]:
    """Compare the reports, and name every metric that may not be compared, with the reason."""
    old, new = (result["report"] if result and not result["failure"] else None for result in (base, head))
    if old is None or new is None:
        return None, {}
    diff, refused = diff_and_refusals(old, new)
    if changes := context_changes(old, new):
        refused |= {name: changes for name, metric in METRICS.items() if metric.execution and name not in refused}
    return diff, refused


def _word(
    base: MetricResult | None, head: MetricResult | None, refusal: str, missing: Mapping[str, str], *, has_failed: bool
) -> tuple[Word, str]:
    old, new = known(base), known(head)
    if old is None or new is None:
        is_lost = is_complete(base) and not has_failed
        lost = {name: side for name, side in (("base", base), ("head", head)) if known(side) is None}
        return (Word.EVIDENCE_LOST if is_lost else Word.NOT_MEASURED), _why_missing(lost, missing)
    if refusal:
        return Word.NOT_COMPARABLE, refusal
    if is_complete(head):
        if is_complete(base):
            return (Word.UNCHANGED if old == new else Word.CHANGED), ""
        return Word.INCONCLUSIVE, "base is a lower bound"
    if is_complete(base):
        return Word.EVIDENCE_LOST, "head is a lower bound"
    return Word.INCONCLUSIVE, "both sides are lower bounds"


def _why_missing(lost: Mapping[str, MetricResult | None], missing: Mapping[str, str]) -> str:
    """Return why sides have no value. Where a cause is known, a side that lost its value with it is not named."""
    known_causes = {side: missing[side] for side in _SIDES if side in missing} if lost else {}
    if known_causes:
        causes = [f"{side}: {cause}" for side, cause in known_causes.items()]
        is_of_both = len(known_causes) == len(_SIDES) and len(set(known_causes.values())) == 1
        return next(iter(known_causes.values())) if is_of_both else "; ".join(causes)
    return "; ".join(
        f"{side}: unavailable"
        if result is not None and result["method"] != NOT_REQUESTED
        else f"{side} does not ask for it"
        for side, result in lost.items()
    )
