"""Units as a report may print them: a throughput's unit is named by the factory, which is somebody else's code."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci_action.core.verdict import Row, Verdict
    from torchscan.report.metric import MetricResult

_UNIT = re.compile(r"[A-Za-z][A-Za-z0-9 ]{0,29}(?:/s)?")


def with_clean_units(verdict: Verdict) -> Verdict:
    """Give the verdict with every unit that is more than a word replaced; the numbers stay."""
    targets = tuple(replace(target, rows=tuple(map(_row, target.rows))) for target in verdict.targets)
    return replace(verdict, targets=targets)


def _row(row: Row) -> Row:
    return replace(row, base=_result(row.base), head=_result(row.head))


def _result(result: MetricResult | None) -> MetricResult | None:
    if result is None or _UNIT.fullmatch(result["unit"]):
        return result
    return {**result, "unit": "units/s" if result["unit"].endswith("/s") else "units"}
