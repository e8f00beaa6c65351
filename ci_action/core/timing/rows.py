"""The rows of what a clock, an allocator or the kernel measured, with their words. Pure: the evidence is all it takes.

Latency and throughput are decided by the interval over lockstep pairs alone. The tensor peak is exact; the resident set
is the median of a few children and scatters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ci_action.core.comparing import known
from ci_action.core.metrics import BENCHMARK_METRICS, METRICS
from ci_action.core.timing.assembling import comparison, side_report
from ci_action.core.timing.family import Family, family, log_changes
from ci_action.core.timing.instructions import GAPS
from ci_action.core.timing.noise import CONTROL_PAIRS, interval, plain_word
from ci_action.core.timing.wilcoxon import estimate_shift
from ci_action.core.verdict import Row, SideFailure, Word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci_action.core.plan import Plan, PlannedTarget
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.core.verdict import TargetVerdict
    from torchscan.report.benchmark import BenchmarkReport
    from torchscan.report.metric import MetricResult

_WITHHELD = "outputs differ, change withheld"
_THREADS = {"num_threads": "torch threads", "num_interop_threads": "torch inter-op threads"}


@dataclass(frozen=True, slots=True)
class _Call:
    """A word with its reason."""

    word: Word
    reason: str = ""


def with_timings(
    plan: Plan, verdicts: Sequence[TargetVerdict], evidence: Mapping[str, BenchmarkEvidence]
) -> tuple[TargetVerdict, ...]:
    """Add to each target the rows, notes and failures of its benchmark."""
    rows = timing_rows(plan, evidence)
    return tuple(_timed_target(verdict, rows.get(verdict.id, ()), evidence.get(verdict.id)) for verdict in verdicts)


def timing_rows(plan: Plan, evidence: Mapping[str, BenchmarkEvidence]) -> dict[str, tuple[Row, ...]]:
    """Give each benchmarked target's rows, in report order. A target without evidence has rows that say so."""
    shared = family(plan, evidence)
    return {
        planned.id: _target_rows(planned, evidence.get(planned.id), shared)
        for planned in plan.targets
        if planned.policy.benchmark is not None and not planned.skipped
    }


def _timed_target(verdict: TargetVerdict, rows: tuple[Row, ...], evidence: BenchmarkEvidence | None) -> TargetVerdict:
    if evidence is None:
        return replace(verdict, rows=(*verdict.rows, *rows))
    failed = evidence["failure"]
    failures = (SideFailure(side=failed["side"], failure=failed["failure"]),) if failed else ()
    return replace(
        verdict,
        rows=(*verdict.rows, *rows),
        failures=(*verdict.failures, *failures),
        notes=(*verdict.notes, *notes(evidence)),
        benchmark=evidence,
    )


def notes(evidence: BenchmarkEvidence) -> list[str]:
    """Say what a reader must know beside the rows."""
    said = list(evidence["notes"])
    if evidence["mode"] == "alternating":
        said.append("the two sides did not fit into memory together, so each pair ran one after the other")
    check = evidence["output_check"]
    if check["verdict"] == "failed":
        said.append(f"the outputs differ: {check['message']}" if check["message"] else "the outputs differ")
    elif check["method"] == "skip" and evidence["base"] and evidence["head"]:
        said.append("outputs were not compared: output-check is skip")
    return said + _thread_changes(evidence)


def _thread_changes(evidence: BenchmarkEvidence) -> list[str]:
    """Name thread counts that differ: the code of one side set them, which is a change and not the model's work."""
    base, head = evidence["base"], evidence["head"]
    if base is None or head is None:
        return []
    counts = (
        (words, base["context"][field], head["context"][field])  # type: ignore[literal-required] # from the table
        for field, words in _THREADS.items()
    )
    return [f"base ran with {old} {words}, head with {new}" for words, old, new in counts if old != new]


def _target_rows(planned: PlannedTarget, evidence: BenchmarkEvidence | None, shared: Family) -> tuple[Row, ...]:
    reports = [side_report(evidence, side) if evidence else None for side in ("base", "head")]
    obstacle = _obstacle(planned, evidence)
    benchmark = planned.policy.benchmark
    asked = [name for name in BENCHMARK_METRICS if benchmark and name in benchmark.metrics]
    rows = []
    for metric in asked:
        base, head = (_total(report, metric) for report in reports)
        call = obstacle or (_uncounted(evidence) if metric == "instructions" else None) or _missing(base, head)
        row = Row(
            target=planned.id,
            metric=metric,
            base=base,
            head=head,
            word=call.word if call else Word.NOT_MEASURED,
            reason=call.reason if call else "",
            is_new=planned.base is None,
        )
        rows.append(row if call or evidence is None else _worded(row, evidence, shared))
    return tuple(rows)


def _obstacle(planned: PlannedTarget, evidence: BenchmarkEvidence | None) -> _Call | None:
    """Say what keeps every row of a target from being compared."""
    if planned.head is None:
        return _Call(Word.REMOVED)
    if evidence is None:
        return _Call(Word.NOT_MEASURED, "the benchmark did not run")
    if failed := evidence["failure"]:
        when = f" in round {failed['round']}" if failed["round"] else ""
        return _Call(Word.NOT_MEASURED, f"{failed['side']}: {failed['failure']['type']}{when}")
    if planned.base is None:
        return _Call(Word.NEW)
    if evidence["output_check"]["verdict"] == "failed":
        return _Call(Word.NOT_COMPARABLE, _WITHHELD)
    compared = comparison(evidence)
    return _Call(Word.NOT_COMPARABLE, compared) if isinstance(compared, str) else None


def _uncounted(evidence: BenchmarkEvidence | None) -> _Call | None:
    """Say why instructions were not counted. Only a side that was asked can have lost them."""
    sides = {side: evidence[side] for side in ("base", "head")} if evidence else {}
    gaps = {side: own["instructions"]["gap"] for side, own in sides.items() if own and "instructions" in own}
    lost = {side: GAPS[gap] for side, gap in gaps.items() if gap}
    if not lost:
        return None
    where = "" if len(lost) == len(gaps) else f"{next(iter(lost))}: "
    word = Word.EVIDENCE_LOST if "base" in gaps and "base" not in lost else Word.NOT_MEASURED
    return _Call(word, where + "; ".join(dict.fromkeys(lost.values())))


def _missing(base: MetricResult | None, head: MetricResult | None) -> _Call | None:
    lost = [
        f"{side}: {'unavailable' if result is None or result['known_value'] is None else 'its calls disagree'}"
        for side, result in (("base", base), ("head", head))
        if result is None or result["value"] is None
    ]
    if not lost:
        return None
    word = Word.EVIDENCE_LOST if base is not None and base["value"] is not None else Word.NOT_MEASURED
    return _Call(word, "; ".join(lost))


def _worded(row: Row, evidence: BenchmarkEvidence, shared: Family) -> Row:
    if METRICS[row.metric].timing:
        return _timed(row, evidence, shared)
    if row.metric == "process_peak_rss":
        return replace(row, word=_scattered(evidence))
    base, head = known(row.base), known(row.head)
    assert base is not None and head is not None  # noqa: S101, PT018 # what is missing has its word by now
    same = abs(head - base) <= METRICS[row.metric].noise_floor * base
    return replace(row, word=Word.UNCHANGED if same else Word.CHANGED)


def _timed(row: Row, evidence: BenchmarkEvidence, shared: Family) -> Row:
    """Word a timing as if no limit covered it; each limit looks at the interval again."""
    changes = log_changes(evidence, row.metric)
    timing = (row.target, row.metric)
    shift = estimate_shift(changes, shared.level(timing))
    if shift is None or (timing in shared.levels and len(changes) < shared.needed_pairs):
        reason = f"{len(changes)} of {evidence['planned_pairs']} pairs were measured, {shared.needed_pairs} are needed"
        return replace(row, word=Word.INCONCLUSIVE, reason=reason)
    change = interval(shift, len(changes))
    if shared.control is not None and shared.control.is_noisy:
        reason = f"noisy runner: base against itself moved {shared.control.estimate:+.1%}"
        return replace(row, word=Word.INCONCLUSIVE, interval=change, reason=reason)
    if shared.control is None and timing in shared.levels:
        reason = f"the runner was not checked: fewer than {CONTROL_PAIRS} pairs of base against itself"
        return replace(row, word=Word.INCONCLUSIVE, interval=change, reason=reason)
    return replace(row, word=plain_word(change), interval=change, reason="")


def _scattered(evidence: BenchmarkEvidence) -> Word:
    """Call resident sets changed only where every child of one side lies above every child of the other."""
    base, head = ((own["rss_bytes"] if own else []) for own in (evidence["base"], evidence["head"]))
    overlap = min(head) <= max(base) and min(base) <= max(head)
    return Word.WITHIN_NOISE if overlap else Word.CHANGED


def _total(report: BenchmarkReport | None, metric: str) -> MetricResult | None:
    return report["totals"].get(metric) if report else None
