"""The verdict as strict JSON: what machines read, by ``schemas/verdict.schema.json``."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ci_action.core.comparing import is_complete, known

if TYPE_CHECKING:
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Row, SideFailure, TargetVerdict, Verdict
    from torchscan.report.diff import ReportDiff
    from torchscan.report.metric import MetricResult

SCHEMA_VERSION = 1
MOST_CHANGED_CALLS = 500
"""Changed module calls per target; the pages hold them all."""


def verdict_document(verdict: Verdict, plan: Plan) -> dict[str, Any]:
    """Build the JSON document of a run."""
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": verdict.outcome.value,
        "exit_code": verdict.exit_code,
        "commits": asdict(plan.commits),
        "pull_request": plan.pull_request.number if plan.pull_request else None,
        "working_directory": plan.working_directory,
        "config": {
            "base": plan.base_config.source if plan.base_config else None,
            "head": plan.head_config.source if plan.head_config else None,
        },
        "changed_dependencies": list(plan.changed_dependencies),
        "accepted": asdict(verdict.accepted) if verdict.accepted else None,
        "targets": [_target(target) for target in verdict.targets],
        "notes": list(verdict.notes),
    }


def to_json(document: dict[str, Any]) -> str:
    """Write a document: ASCII, so that no encoding on the way can hurt it, and never NaN."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _target(target: TargetVerdict) -> dict[str, Any]:
    return {
        "id": target.id,
        "skipped": target.skipped or None,
        "rows": [_row(row) for row in target.rows],
        "failures": [_failure(item) for item in target.failures],
        "calls": None if target.diff is None else _calls(target.diff),
        "notes": [*target.notes, *([target.unproven] if target.unproven else [])],
    }


def _row(row: Row) -> dict[str, Any]:
    base, head = known(row.base), known(row.head)
    exact = is_complete(row.base) and is_complete(row.head) and row.word not in _WITHHELD
    return {
        "metric": row.metric,
        "word": row.word.value,
        "gate": row.gate.value,
        "reason": row.reason or None,
        "accepted": row.accepted,
        "base": _result(row.base),
        "head": _result(row.head),
        "delta": head - base if exact and head is not None and base is not None else None,
        "limit": None if row.limit is None else {"text": row.limit.text, "line": row.limit.line},
        "interval": None if row.interval is None else asdict(row.interval),
    }


_WITHHELD = frozenset({"not comparable", "not measured", "new", "removed"})


def _result(result: MetricResult | None) -> dict[str, Any] | None:
    """Give a measured number; one that is not finite was not measured, and JSON has no word for it."""
    if result is None:
        return None
    if result["known_value"] is not None and known(result) is None:
        return {**result, "status": "unavailable", "value": None, "known_value": None}
    return dict(result)


def _failure(item: SideFailure) -> dict[str, Any]:
    failure = item.failure
    return {
        "side": item.side,
        "stage": failure["stage"],
        "type": failure["type"],
        "message": failure["message"],
        "frames": list(failure["frames"]),
        "calls_done": failure.get("calls_done"),
    }


def _calls(diff: ReportDiff) -> dict[str, Any]:
    changed = diff["layers"]["changed"]
    return {
        "added": len(diff["layers"]["added"]),
        "removed": len(diff["layers"]["removed"]),
        "changed": len(changed),
        "rows": [
            {
                "path": call["path"],
                "call_index": call["call_index"],
                "metrics": {
                    name: {"before": _result(delta["before"]), "after": _result(delta["after"])}
                    for name, delta in call["metrics"].items()
                },
            }
            for call in changed[:MOST_CHANGED_CALLS]
        ],
    }
