"""A side's blocks made into one BenchmarkReport, and both into one comparison. Pure, and without torch."""

from __future__ import annotations

from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, Literal

from ci_action.core.timing.instructions import instruction_total
from ci_action.core.timing.rounds import read_round
from torchscan.compare.benchmarks import compare_benchmarks
from torchscan.report.analysis import NOT_REQUESTED
from torchscan.report.blocks import Timings, measurement, timing_totals
from torchscan.report.metric import MetricResult, complete, partial, unavailable
from torchscan.report.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from ci_action.core.timing.evidence import BenchmarkEvidence, SideEvidence
    from torchscan.report.benchmark import BenchmarkComparison, BenchmarkReport, PeakMemory

BLOCKS_METHOD = "torchscan_lockstep_blocks_v1"
TENSOR_METHOD = "torchscan_peak_of_two_calls_v1"
RSS_METHOD = "median_of_children_ru_maxrss"


def side_report(evidence: BenchmarkEvidence, side: Literal["base", "head"]) -> BenchmarkReport | None:
    """Assemble one side's report; None where that side was not measured."""
    own = evidence[side]
    if own is None:
        return None
    timings = _timings(evidence, side, own)
    context = own["context"]
    return {
        "schema_version": SCHEMA_VERSION,
        "report_type": "benchmark",
        "context": context,
        "inputs": own["inputs"],
        "totals": {
            **timing_totals(
                timings,
                context["work_units"],
                context["work_unit"],
                ("latency", "throughput"),
                method=BLOCKS_METHOD,
            ),
            "operator_flops": unavailable(unit="FLOPs", scope="workload", method=NOT_REQUESTED),
            "peak_memory": tensor_peak(own["memory"]),
            "process_peak_rss": rss_peak(own["rss_bytes"]),
            **({"instructions": instruction_total(own["instructions"])} if "instructions" in own else {}),
        },
        "measurement": measurement(timings),
        "diagnostics": [],
    }


def comparison(evidence: BenchmarkEvidence) -> BenchmarkComparison | str:
    """Compare both sides' reports, or say in a sentence why they cannot be compared."""
    base, head = side_report(evidence, "base"), side_report(evidence, "head")
    if base is None or head is None:
        return "one side has no benchmark"
    try:
        return compare_benchmarks(base, head, check=lambda: evidence["output_check"]["verdict"] != "failed")
    except ValueError as error:
        return str(error)


def tensor_peak(memory: list[PeakMemory]) -> MetricResult:
    """Give the peak of calls that agree. Calls that do not only prove that the peak is at least the largest."""
    if not memory:
        return unavailable(unit="bytes", scope="pytorch_tensor_bytes", method=NOT_REQUESTED)
    peaks = [item["peak_bytes"] for item in memory]
    build = complete if len(set(peaks)) == 1 and len(peaks) > 1 else partial
    return build(max(peaks), unit="bytes", scope=memory[0]["metric"], method=TENSOR_METHOD)


def rss_peak(rss_bytes: list[int]) -> MetricResult:
    """Give the median over a side's children."""
    facts = {"unit": "bytes", "scope": "child_process_lifetime"}
    if not rss_bytes:
        return unavailable(**facts, method=NOT_REQUESTED)
    return complete(int(median(rss_bytes)), **facts, method=RSS_METHOD)


def _timings(evidence: BenchmarkEvidence, side: Literal["base", "head"], own: SideEvidence) -> Timings | None:
    """Join the blocks of all pairs. Controls are base against itself and belong to no side's latency."""
    rounds = [item for item in evidence["rounds"] if item["kind"] == "pair"]
    for item in rounds:
        read_round(item)
    key: Literal["a_seconds", "b_seconds"] = "a_seconds" if side == "base" else "b_seconds"
    if not rounds or len({item["calls_per_block"] for item in rounds}) != 1 or not own["first_call_seconds"]:
        return None
    return Timings(
        first_call_seconds=median(own["first_call_seconds"]),
        number_per_run=rounds[0]["calls_per_block"],
        raw_times_seconds=tuple(chain.from_iterable(item[key] for item in rounds)),
    )
