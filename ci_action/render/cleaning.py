"""What of a verdict may be printed: units and messages are named by somebody else's code."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci_action.core.verdict import Row, SideFailure, Verdict
    from torchscan.report.metric import MetricResult

_UNIT = re.compile(r"[A-Za-z][A-Za-z0-9 ]{0,29}(?:/s)?")


def with_clean_units(verdict: Verdict) -> Verdict:
    """Give the verdict with every unit that is more than a word replaced; the numbers stay."""
    targets = tuple(replace(target, rows=tuple(map(_row, target.rows))) for target in verdict.targets)
    return replace(verdict, targets=targets)


def without_messages(verdict: Verdict) -> Verdict:
    """Give the verdict with each failure's stage and class alone: a fork's own words stay in the fork's run."""
    targets = tuple(replace(target, failures=tuple(map(_silent, target.failures))) for target in verdict.targets)
    return replace(verdict, targets=targets)


def _silent(item: SideFailure) -> SideFailure:
    return replace(item, failure={**item.failure, "message": "", "frames": []})


def _row(row: Row) -> Row:
    return replace(row, base=_result(row.base), head=_result(row.head))


def _result(result: MetricResult | None) -> MetricResult | None:
    if result is None or _UNIT.fullmatch(result["unit"]):
        return result
    return {**result, "unit": "units/s" if result["unit"].endswith("/s") else "units"}
