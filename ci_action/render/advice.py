"""What to do next: only what the code really honours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.metrics import label
from ci_action.core.verdict import Gate, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult
    from ci_action.core.verdict import Verdict
    from ci_action.render.medium import Quote

_MOST_OPERATORS = 5
_WARN = 'on-unknown = "warn"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncounted:
    """An operator without a formula, and how many diagnostics name it."""

    target: str
    operator: str
    times: int


def uncounted_operators(verdict: Verdict, head: Mapping[str, TargetResult]) -> list[Uncounted]:
    """Name what made operator counts of head a lower bound, for targets that lost evidence."""
    found = []
    for target in verdict.targets:
        lost = any(row.word is Word.EVIDENCE_LOST and row.metric.startswith("operator_") for row in target.rows)
        result = head.get(target.id)
        if not lost or result is None or result["report"] is None:
            continue
        named = Counter(
            operator
            for diagnostic in result["report"]["diagnostics"]
            if diagnostic["metric"].startswith("operator_") and (operator := diagnostic.get("operator"))
        )
        found += [
            Uncounted(target=target.id, operator=operator, times=times)
            for operator, times in named.most_common(_MOST_OPERATORS)
        ]
    return found


def next_steps(verdict: Verdict, plan: Plan, operators: list[Uncounted], quote: Quote) -> list[str]:
    """Write the steps as sentences."""
    if plan.base_config is None:
        return []
    source = quote(plan.base_config.source)
    rows = [row for target in verdict.targets for row in target.rows]
    steps = []
    if any(row.gate is Gate.FAIL and row.word is not Word.REMOVED for row in rows):
        step = f"Raise the limit in {source} on the base branch"
        if plan.base_config.accept_label and plan.pull_request:
            step += (
                f", or ask a maintainer to add the label {quote(plan.base_config.accept_label)}. "
                "The label counts for the commit it was set on"
            )
        steps.append(f"{step}.")
    if operators:
        names = ", ".join(quote(name) for name in dict.fromkeys(item.operator for item in operators))
        steps.append(f"Return a formula for {names} as {quote('custom_mapping')} from the factory.")
    lost = next((row for row in rows if row.gate is Gate.UNKNOWN and row.word is Word.EVIDENCE_LOST), None)
    if lost is not None:
        steps.append(f"Or set {quote(_WARN)} on the limit for {label(lost.metric)} in {source} on the base branch.")
    if any(row.word is Word.INCONCLUSIVE and row.interval and row.gate is not Gate.NONE for row in rows):
        steps.append(f"To settle an interval: raise {quote('pairs')} on the base branch, or use a quieter runner.")
    return steps
