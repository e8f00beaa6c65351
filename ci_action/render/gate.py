"""The text of the gate. "Passed" is used only where something was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.verdict import Basis, Gate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Row, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """``status`` is passed, failed or not set; ``why`` is empty where it is obvious."""

    status: str
    why: str = ""


def gate_line(verdict: Verdict, plan: Plan) -> GateLine:
    """Return what the owner's limits make of the run."""
    limited = [row for target in verdict.targets for row in target.rows if row.basis is not Basis.NOTHING]
    open_rows = [row for row in limited if is_open(row)]
    if verdict.outcome is Gate.FAIL:
        return GateLine(status="failed")
    if verdict.outcome is Gate.UNKNOWN:
        return GateLine(status="failed", why=_why_unknown(verdict, open_rows))
    if not limited:
        why = plan.why_report_only if plan.is_report_only else "no limit covers what was measured"
        return GateLine(status="not set", why=f"{why}: this only reports")
    if verdict.accepted:
        accepted = ["what exceeds a limit was accepted, see below", *_unmeasured(plan)]
        return GateLine(status="passed", why="; ".join(accepted))
    if len(open_rows) == len(limited):
        return GateLine(status="not judged", why="; ".join(_open_words(open_rows)))
    return GateLine(status="passed", why="; ".join([*_unmeasured(plan), *_warnings(limited), *_open_words(open_rows)]))


def is_open(row: Row) -> bool:
    """Check whether a limit covers the row and could not be judged by its values."""
    return row.basis is Basis.POLICY and not row.is_removed


def _unmeasured(plan: Plan) -> list[str]:
    return ["changed dependencies not measured"] if plan.changed_dependencies else []


def _warnings(limited: Sequence[Row]) -> list[str]:
    exceeded = any(row.gate is Gate.WARN and row.basis is Basis.EVIDENCE for row in limited)
    removed = len({row.target for row in limited if row.is_removed})
    return [
        *(["with warnings"] if exceeded else []),
        *([f"{removed} target{'' if removed == 1 else 's'} removed"] if removed else []),
    ]


def _open_words(rows: Sequence[Row]) -> list[str]:
    """Return counts of what was not judged: a metric that was left out must not be taken for one that passed."""
    new = sum(row.is_new and row.gate is Gate.NONE for row in rows)
    ignored = sum(row.gate is Gate.NONE for row in rows) - new
    others = len(rows) - new - ignored
    counted = (
        (others, "could not be judged; policy: warn"),
        (ignored, "could not be judged; policy: ignore"),
        (new, "new, with no base to compare with"),
    )
    return [f"{_metrics(count)} {words}" for count, words in counted if count]


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
