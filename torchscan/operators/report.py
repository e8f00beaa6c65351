"""Operator records as a FlopReport."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch

from torchscan.operators.entry import INTEGER_REASON, NO_FORMULA, Entry
from torchscan.operators.formula import Count
from torchscan.report.analysis import NATIVE_METHOD
from torchscan.report.diagnostic import Diagnostic, DiagnosticCode
from torchscan.report.flops import FlopReport, IgnoredOperator
from torchscan.report.metric import MetricResult
from torchscan.report.schema import SCHEMA_VERSION

CONVENTION = "torchscan_flops_v1"

_ADVICE = "pass custom_mapping={torch.ops.NAME: formula} to count it"


def flop_report(
    entries: list[Entry],
    formulas: str,
    total: MetricResult,
    by_module: Mapping[str, Mapping[str, Count]] | None,
) -> FlopReport:
    """Assemble the report of a count; operators appear in the order in which they were first seen."""
    seen = [entry for entry in entries if entry.calls]
    by_operator: dict[str, Count] = {}
    for entry in seen:
        if entry.flops or (entry.cost is not None and not entry.problems and entry.calls > entry.integer_calls):
            by_operator[entry.name] = by_operator.get(entry.name, 0) + entry.flops
    return {
        "schema_version": SCHEMA_VERSION,
        "context": {
            "torch_version": torch.__version__,
            "method": total["method"],
            "counting_convention": NATIVE_METHOD if formulas == "native" else CONVENTION,
        },
        "total": total,
        "by_module": {label: dict(counts) for label, counts in (by_module or {}).items()},
        "by_operator": by_operator,
        "ignored_operators": _ignored(seen),
        "diagnostics": _diagnostics(seen),
    }


def _ignored(entries: Iterable[Entry]) -> list[IgnoredOperator]:
    calls: dict[tuple[str, str], int] = {}
    for entry in entries:
        if entry.free_reason is not None:
            key, count = (entry.name, entry.free_reason), entry.calls
        else:
            key, count = (entry.name, INTEGER_REASON), entry.integer_calls
        if count:
            calls[key] = calls.get(key, 0) + count
    return [{"operator": name, "calls": count, "reason": reason} for (name, reason), count in calls.items()]


def _diagnostics(entries: Iterable[Entry]) -> list[Diagnostic]:
    """One diagnostic for each operator and cause; overloads of an operator share it."""
    found: dict[tuple[str, DiagnosticCode, str], int] = {}
    for entry in entries:
        for (code, words), calls in entry.problems.items():
            found[entry.name, code, words] = found.get((entry.name, code, words), 0) + calls
    return [
        {
            "code": code,
            "severity": "warning",
            "metric": "operator_flops",
            "message": _message(name, words, calls),
            "operator": name,
        }
        for (name, code, words), calls in found.items()
    ]


def _message(name: str, words: str, calls: int) -> str:
    times = f"{calls} call" if calls == 1 else f"{calls} calls"
    if words == NO_FORMULA:
        return f"{name} has no formula: {times} not counted; {_ADVICE.replace('NAME', name)}"
    return f"{name}: {words}; {times} not counted in full"
