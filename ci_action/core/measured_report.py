"""An analysis that untrusted code could have written, checked beyond its form: no number or word passes for ours.

The library's check holds the form and the algebra of statuses. What a worker of ours can give is narrower: a count is a
whole number of at least zero, and what names a unit, a method or a version is a word of ours, never a sentence.
"""

from __future__ import annotations

from typing import Any

from ci_action.core.handover.identifiers import is_identifier
from torchscan.report.analysis import STORAGE_TOTALS, TOTALS, UNITS
from torchscan.report.schema import check_analysis

MAX_COUNT = 10**24
"""A forward of 10**12 parameters over a million tokens is some 10**18 multiplications."""
COUNTS = frozenset((*TOTALS, "calls", "local_parameters"))
_WORDS = ("torchscan_version", "torch_version", "python_version", "execution_mode", "analysis_mode")
_LISTS = ("devices", "dtypes")


def check_measured(report: Any) -> None:
    """Check that a report can be one of a worker of ours. Raises ValueError naming the place."""
    check_analysis(report)
    context = report["context"]
    for key in _WORDS:
        _word(context.get(key), f"context: {key}")
    for key in _LISTS:
        items = context.get(key)
        for item in items if isinstance(items, list) else [None]:
            _word(item, f"context: {key}")
    missing = [name for name in STORAGE_TOTALS if name not in report["totals"]]
    if missing:
        raise ValueError(f"totals: missing {', '.join(missing)}")
    check_counts(report["totals"], "totals")
    check_counts({"operator_flops": report["operator_flops"]["total"]}, "operator_flops")
    for index, row in enumerate(report["layers"]):
        if row["call_index"] < 0 or row["depth"] < 0:
            raise ValueError(f"layers[{index}]: a negative call_index or depth")
        for group in ("parameters", "buffers", "metrics"):
            check_counts(row[group], f"layers[{index}]: {group}")


def check_counts(metrics: Any, where: str) -> None:
    """Check the numbers and the words of a mapping of metrics whose form is known to be right. Raises ValueError."""
    for name, result in metrics.items():
        _word(name, where)
        if name in UNITS and result["unit"] != UNITS[name]:
            raise ValueError(f"{where}: {name} is counted in another unit")
        for key in ("unit", "scope", "method"):
            _word(result[key], f"{where}: {name}: {key}")
        known = result["known_value"]
        if name in COUNTS and known is not None and not (type(known) is int and 0 <= known <= MAX_COUNT):
            raise ValueError(f"{where}: {name} is no whole number from 0 to 1e24")


def _word(text: object, where: str) -> None:
    if not isinstance(text, str) or not is_identifier(text):
        raise ValueError(f"{where} is no word")
