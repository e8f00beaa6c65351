"""What a run without rights hands to the run that may publish: totals, the calls that changed, and no words.

Messages, frames, notes and inputs stay behind. Full rows and pages go into another artifact, which is never read.
"""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, TypedDict, cast

from ci_action.core.handover.identifiers import identifier, with_identifiers
from ci_action.core.spec import Side
from torchscan.report.analysis import LAYER_METRICS
from torchscan.report.metric import MetricResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ci_action.core.plan import Commits
    from ci_action.core.spec import Failure, TargetResult
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from torchscan.report.analysis import AnalysisReport, LayerReport

PUBLISH_VERSION = 1
FILE = "evidence.json"
MOST_CALLS = 500
MOST_BYTES = 20_000_000
MOST_ITEMS = 400_000
"""JSON values in all: what a schema check of half a minute can walk."""
MAX_TOTAL_BYTES, MAX_TOTAL_ITEMS = 3 * MOST_BYTES, 3 * MOST_ITEMS
"""What all jobs of a split may send together: the checks of that much take a minute or two, and some 2 GB."""
MOST_OPERATORS = 5

CONTEXT = ("torchscan_version", "torch_version", "python_version", "execution_mode", "analysis_mode")
CONTEXT_LISTS = ("devices", "dtypes")
RANKED_BY = "operator_flops"

_Call = tuple[str, int]


class CallRow(TypedDict):
    """One module call that differs between the sides, with the metrics that differ."""

    path: str
    call_index: int
    type: str
    metrics: dict[str, MetricResult]


class UncountedOperator(TypedDict):
    """An operator without a formula, and how many diagnostics name it."""

    operator: str
    times: int


class ReducedReport(TypedDict):
    """A report without its words. ``inputs`` is the SHA-256 of what the inputs looked like."""

    context: dict[str, Any]
    inputs: str
    totals: dict[str, MetricResult]
    calls: list[CallRow]
    uncounted: list[UncountedOperator]


class ReducedFailure(TypedDict):
    """Stage and class name of a failure, and how many calls were done before it."""

    stage: str
    type: str
    calls_done: int | None


class ReducedResult(TypedDict):
    """One side of one target."""

    id: str
    side: Side
    report: ReducedReport | None
    failure: ReducedFailure | None


class PublishEvidence(TypedDict):
    """The whole file. The commits are claims: the reader proves them before anything of it counts."""

    version: int
    base_sha: str | None
    head_sha: str
    measured_sha: str
    results: list[ReducedResult]
    benchmarks: list[BenchmarkEvidence]


def pack(
    commits: Commits,
    base: Sequence[TargetResult],
    head: Sequence[TargetResult],
    benchmarks: Mapping[str, BenchmarkEvidence],
    *,
    jobs: int = 1,
) -> bytes:
    """Write the evidence of one of ``jobs``. Where it would be too large, targets lose their smallest changes first."""
    data = b""
    most_bytes, most_items = min(MOST_BYTES, MAX_TOTAL_BYTES // jobs), min(MOST_ITEMS, MAX_TOTAL_ITEMS // jobs)
    for kept in (MOST_CALLS, 100, 20, 0):
        evidence = _reduced(commits, base, head, benchmarks, kept)
        data = json.dumps(evidence, allow_nan=False, separators=(",", ":")).encode("ascii")
        if len(data) <= most_bytes and count_values(evidence) <= most_items:
            break
    return data


def _reduced(
    commits: Commits,
    base: Sequence[TargetResult],
    head: Sequence[TargetResult],
    benchmarks: Mapping[str, BenchmarkEvidence],
    kept: int,
) -> PublishEvidence:
    others = {"base": {item["id"]: item for item in head}, "head": {item["id"]: item for item in base}}
    return {
        "version": PUBLISH_VERSION,
        "base_sha": commits.base_sha,
        "head_sha": commits.head_sha,
        "measured_sha": commits.measured_sha,
        "results": [_result(item, others[item["side"]].get(item["id"]), kept) for item in (*base, *head)],
        "benchmarks": [_benchmark(item) for item in benchmarks.values()],
    }


def _result(result: TargetResult, other: TargetResult | None, kept: int) -> ReducedResult:
    report, failure = result["report"], result["failure"]
    return {
        "id": result["id"],
        "side": result["side"],
        "report": _report(report, other["report"] if other else None, kept) if report else None,
        "failure": _failure(failure) if failure else None,
    }


def _failure(failure: Failure) -> ReducedFailure:
    return {"stage": failure["stage"], "type": identifier(failure["type"]), "calls_done": failure.get("calls_done")}


def _report(report: AnalysisReport, other: AnalysisReport | None, kept: int) -> ReducedReport:
    context: Mapping[str, Any] = report["context"]
    return {
        "context": with_identifiers({key: context[key] for key in (*CONTEXT, *CONTEXT_LISTS)}),
        "inputs": sha256(json.dumps(report["inputs"], sort_keys=True).encode()).hexdigest(),
        "totals": with_identifiers(report["totals"]),
        "calls": _changed(report, other, kept) if other else [],
        "uncounted": _uncounted(report),
    }


def _changed(report: AnalysisReport, other: AnalysisReport, kept: int) -> list[CallRow]:
    """Pick the calls that differ most. Both sides pick the same, so that what is compared belongs together."""
    own, theirs = _calls(report), _calls(other)
    changed = [call for call in sorted({*own, *theirs}) if _metrics(own, call) != _metrics(theirs, call)]
    changed.sort(key=lambda call: -abs(_work(own, call) - _work(theirs, call)))
    rows: list[CallRow] = []
    for call in changed[:kept]:
        if call in own:
            row, rival = own[call], _metrics(theirs, call)
            metrics = {name: value for name, value in _metrics(own, call).items() if value != rival.get(name)}
            kind = identifier(row["type"])
            rows.append(
                {
                    "path": identifier(call[0]),
                    "call_index": call[1],
                    "type": kind,
                    "metrics": with_identifiers(metrics),
                }
            )
    return rows


def _calls(report: AnalysisReport) -> dict[_Call, LayerReport]:
    return {(row["path"], row["call_index"]): row for row in report["layers"]}


def _metrics(side: Mapping[_Call, LayerReport], call: _Call) -> dict[str, MetricResult]:
    metrics = side[call]["metrics"] if call in side else {}
    return {name: metrics[name] for name in LAYER_METRICS if name in metrics}


def _work(side: Mapping[_Call, LayerReport], call: _Call) -> float:
    result = _metrics(side, call).get(RANKED_BY)
    return result["known_value"] or 0 if result else 0


def _uncounted(report: AnalysisReport) -> list[UncountedOperator]:
    times: dict[str, int] = {}
    for item in report["diagnostics"]:
        if item["metric"].startswith("operator_") and (operator := item.get("operator")):
            times[identifier(operator)] = times.get(identifier(operator), 0) + 1
    ranked = sorted(times.items(), key=lambda pair: -pair[1])
    return [{"operator": name, "times": times} for name, times in ranked[:MOST_OPERATORS]]


def _benchmark(evidence: BenchmarkEvidence) -> BenchmarkEvidence:
    reduced: Any = {**with_identifiers({**evidence, "notes": []}), "id": evidence["id"]}
    for side in (reduced["base"], reduced["head"]):
        if side is not None and side["inputs"] is not None:
            side["inputs"] = {"sha256": sha256(json.dumps(side["inputs"], sort_keys=True).encode()).hexdigest()}
    reduced["output_check"]["message"] = ""
    if reduced["failure"] is not None:
        reduced["failure"]["failure"] |= {"message": "", "frames": []}
    return cast("BenchmarkEvidence", reduced)


def count_values(value: Any) -> int:
    """Count the values of a document."""
    counter, waiting = count(), [value]
    while waiting:
        next(counter)
        item = waiting.pop()
        waiting += _inner(item)
    return next(counter)


def _inner(item: Any) -> Iterable[Any]:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()
