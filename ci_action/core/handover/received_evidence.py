"""Read the evidence of a run that an enemy may have controlled. Numbers and identifiers come through, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ci_action.core.handover.identifiers import holds_only_identifiers, identifier
from ci_action.core.handover.publish_evidence import (
    MAX_TOTAL_BYTES,
    MAX_TOTAL_ITEMS,
    MOST_BYTES,
    MOST_ITEMS,
    PublishEvidence,
    ReducedReport,
    ReducedResult,
    count_values,
)
from ci_action.core.measured_report import check_counts
from ci_action.core.schemas import load_schema
from ci_action.core.spec import SPEC_VERSION, Failure, TargetResult
from ci_action.core.strict_json import JsonLimits, parse_json
from ci_action.core.timing.evidence_file import read_evidence
from ci_action.errors import EvidenceError
from torchscan.report.analysis import METHODS, UNITS
from torchscan.report.metric import unavailable
from torchscan.report.schema import SCHEMA_VERSION, check_metrics

if TYPE_CHECKING:
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from torchscan.report.analysis import AnalysisReport
    from torchscan.report.diagnostic import Diagnostic

LIMITS = JsonLimits(size_bytes=MOST_BYTES, items=MOST_ITEMS)
MOST_SHOWN_OPERATORS = 1000


@dataclass(slots=True)
class Budget:
    """What the shards of one run may still hold together. Each alone has the limits of a whole."""

    size_bytes: int = MAX_TOTAL_BYTES
    items: int = MAX_TOTAL_ITEMS

    @property
    def limits(self) -> JsonLimits:
        """What the next one may hold."""
        return JsonLimits(size_bytes=min(MOST_BYTES, self.size_bytes), items=min(MOST_ITEMS, self.items))

    def take(self, size_bytes: int, items: int) -> None:
        """Take off what one held."""
        self.size_bytes -= size_bytes
        self.items -= items


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """Evidence that is well-formed. The commits are still what the other run claims."""

    base_sha: str | None
    head_sha: str
    measured_sha: str
    base: list[TargetResult]
    head: list[TargetResult]
    benchmarks: dict[str, BenchmarkEvidence]


def read_received(data: bytes, budget: Budget | None = None) -> Received:
    """Parse and check a file of evidence. ``budget``: of all files that are read with it.

    Raises:
        EvidenceError: what is wrong and where; never a word of the document itself.
    """
    document = parse_json(data, budget.limits if budget else LIMITS)
    if budget:
        budget.take(len(data), count_values(document))
    _check_schema(document)
    evidence: PublishEvidence = document
    keys = [(item["side"], item["id"]) for item in evidence["results"]]
    if len(set(keys)) != len(keys):
        raise EvidenceError("the evidence holds one side of a target twice")
    results = [_result(item, f"results[{index}]") for index, item in enumerate(evidence["results"])]
    return Received(
        base_sha=evidence["base_sha"],
        head_sha=evidence["head_sha"],
        measured_sha=evidence["measured_sha"],
        base=[item for item in results if item["side"] == "base"],
        head=[item for item in results if item["side"] == "head"],
        benchmarks=_benchmarks(evidence["benchmarks"]),
    )


def _check_schema(document: Any) -> None:
    from jsonschema import Draft202012Validator  # a quarter of a second that only a publishing run pays

    fault = next(Draft202012Validator(load_schema("evidence")).iter_errors(document), None)
    if fault is not None:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{identifier(part)}" for part in fault.path)
        raise EvidenceError(f"the evidence does not fit its schema ({fault.validator}) at {place or 'its root'}")


def _result(item: ReducedResult, where: str) -> TargetResult:
    if item["report"] is not None and item["failure"] is not None:
        raise EvidenceError(f"{where} holds both a report and a failure")
    return {
        "version": SPEC_VERSION,
        "id": item["id"],
        "side": item["side"],
        "report": _report(item["report"], where) if item["report"] else None,
        "failure": _failure(item) if item["failure"] else None,
        "seconds": 0.0,
    }


def _failure(item: ReducedResult) -> Failure:
    reduced: Any = item["failure"]
    failure: Failure = {"stage": reduced["stage"], "type": reduced["type"], "message": "", "frames": []}
    return failure if reduced["calls_done"] is None else {**failure, "calls_done": reduced["calls_done"]}


def _report(reduced: ReducedReport, where: str) -> AnalysisReport:
    """Give the form that a comparison takes. What did not cross stands as what it is: absent."""
    calls = [(row["path"], row["call_index"]) for row in reduced["calls"]]
    if len(set(calls)) != len(calls):
        raise EvidenceError(f"{where} holds one module call twice")
    try:
        for metrics in (reduced["totals"], *(row["metrics"] for row in reduced["calls"])):
            check_metrics(metrics, "metrics")
            check_counts(metrics, "metrics")
    except ValueError:
        raise EvidenceError(f"{where} holds a metric whose numbers contradict its status") from None
    missing = unavailable(unit=UNITS["operator_flops"], scope="model", method=METHODS["operator_flops"])
    report = {
        "schema_version": SCHEMA_VERSION,
        "context": {**reduced["context"], "model_type": "", "training_before": False},
        "inputs": {"source": "caller", "args": [reduced["inputs"]], "kwargs": {}},
        "layers": [_row(row) for row in reduced["calls"]],
        "totals": reduced["totals"],
        "operator_flops": {"total": reduced["totals"].get("operator_flops", missing)},
        "diagnostics": [item for entry in reduced["uncounted"] for item in _uncounted(entry)],
    }
    return cast("AnalysisReport", report)


def _row(row: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {"input": {}, "output": {}, "parameters": {}, "buffers": {}}
    return {**row, **nothing, "name": row["path"].rpartition(".")[2], "depth": row["path"].count(".")}


def _uncounted(entry: Any) -> list[Diagnostic]:
    diagnostic: Diagnostic = {
        "code": "uncounted_operator",
        "severity": "warning",
        "metric": "operator_flops",
        "message": "",
        "operator": entry["operator"],
    }
    return [diagnostic] * min(entry["times"], MOST_SHOWN_OPERATORS)


def _benchmarks(items: list[BenchmarkEvidence]) -> dict[str, BenchmarkEvidence]:
    found: dict[str, BenchmarkEvidence] = {}
    for index, item in enumerate(items):
        if not holds_only_identifiers({**item, "id": ""}):
            raise EvidenceError(f"benchmarks[{index}] holds a text that is no identifier")
        evidence = read_evidence(item)
        if evidence["id"] in found:
            raise EvidenceError("the evidence holds one benchmark twice")
        found[evidence["id"]] = {**evidence, "notes": []}
    return found
