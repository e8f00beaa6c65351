"""The rows of what a clock, an allocator or the kernel measured, with their words. Pure: the evidence is all it takes.

Latency and throughput are decided by the interval over lockstep pairs alone. The tensor peak is exact; the resident set
is the median of a few children and scatters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from ci_action.core.comparing import compared_row, is_complete, known
from ci_action.core.metrics import BENCHMARK_METRICS, METRICS
from ci_action.core.timing.assembling import comparison, side_report
from ci_action.core.timing.evidence import KILLED, TREE_CHANGED
from ci_action.core.timing.family import Family, family, log_changes
from ci_action.core.timing.instructions import GAPS
from ci_action.core.timing.lockstep import RSS_CHILDREN
from ci_action.core.timing.noise import CONTROL_PAIRS, interval, plain_word
from ci_action.core.timing.wilcoxon import estimate_shift
from ci_action.core.verdict import Row, Shortfall, SideFailure, Word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci_action.core.plan import Plan, PlannedTarget
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.core.verdict import Interval, Policy, TargetVerdict
    from torchscan.report.benchmark import BenchmarkReport
    from torchscan.report.metric import MetricResult

_WITHHELD = "outputs differ, change withheld"
_SIDES: tuple[Literal["base", "head"], ...] = ("base", "head")
_THREADS = {"num_threads": "torch threads", "num_interop_threads": "torch inter-op threads"}


def with_timings(
    plan: Plan, verdicts: Sequence[TargetVerdict], evidence: Mapping[str, BenchmarkEvidence]
) -> tuple[TargetVerdict, ...]:
    """Add to each target the rows, notes and failures of its benchmark."""
    usable = {identity: _own_code_only(item) for identity, item in evidence.items()}
    rows = timing_rows(plan, usable)
    return tuple(_timed_target(verdict, rows.get(verdict.id, ()), usable.get(verdict.id)) for verdict in verdicts)


def _own_code_only(evidence: BenchmarkEvidence) -> BenchmarkEvidence:
    """Drop what a side measured with code that is not its own commit's: those are numbers of something else."""
    failed = evidence["failure"]
    if failed is None or failed["failure"]["stage"] != "isolation":
        return evidence
    controls = [item for item in evidence["rounds"] if item["kind"] == "control" and failed["side"] == "head"]
    own: dict[str, None] = {failed["side"]: None}
    return cast("BenchmarkEvidence", {**evidence, **own, "rounds": controls})


def timing_rows(plan: Plan, evidence: Mapping[str, BenchmarkEvidence]) -> dict[str, tuple[Row, ...]]:
    """Return each benchmarked target's rows, in report order. A target without evidence has rows that say so."""
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
    base, head = (side_report(evidence, side) if evidence else None for side in ("base", "head"))
    refusal = _refusal(planned, evidence)
    benchmark = planned.policy.benchmark
    rows = []
    for metric in (name for name in BENCHMARK_METRICS if benchmark and name in benchmark.metrics):
        row = compared_row(
            planned,
            metric,
            _total(base, metric),
            _total(head, metric),
            refusal=refusal,
            missing=_gaps(evidence, metric),
            has_failed=evidence is None or evidence["failure"] is not None,
        )
        rows.append(row if evidence is None else _measured(row, planned, evidence, shared))
    return tuple(rows)


def _refusal(planned: PlannedTarget, evidence: BenchmarkEvidence | None) -> str:
    """Return why the two sides of a target may not be compared, whatever was measured."""
    if evidence is None or planned.base is None or planned.head is None:
        return ""
    if evidence["output_check"]["verdict"] == "failed":
        return _WITHHELD
    if evidence["base"] is None or evidence["head"] is None:
        return ""
    compared = comparison(evidence)
    return compared if isinstance(compared, str) else ""


def _gaps(evidence: BenchmarkEvidence | None, metric: str) -> dict[str, str]:
    """Return for each side why a value of it may be missing."""
    if evidence is None:
        return dict.fromkeys(("base", "head"), "the benchmark did not run")
    gaps: dict[str, str] = {}
    if metric == "instructions":
        sides = {side: evidence[side] for side in _SIDES}
        gaps = {
            side: GAPS[own["instructions"]["gap"]]
            for side, own in sides.items()
            if own and "instructions" in own and own["instructions"]["gap"]
        }
    if failed := evidence["failure"]:
        gaps[failed["side"]] = _failure_text(evidence)
    return gaps


def _failure_text(evidence: BenchmarkEvidence) -> str:
    failed = evidence["failure"]
    if failed is None:
        return ""
    return failed["failure"]["type"] + (f" in round {failed['round']}" if failed["round"] else "")


def _measured(row: Row, planned: PlannedTarget, evidence: BenchmarkEvidence, shared: Family) -> Row:
    """Add to a row of two values what repeated measurements say of them, and what they may not decide."""
    if row.is_removed:
        return row
    if METRICS[row.metric].timing:
        row = _timed(row, evidence, shared)
    elif row.metric == "process_peak_rss":
        row = _scattered(row, evidence)
    elif row.word is Word.CHANGED:
        row = _beyond_the_floor(row)
    if row.shortfall:
        return row
    return replace(row, shortfall=_taken_away(row, evidence) or _unchecked(planned, evidence))


def _timed(row: Row, evidence: BenchmarkEvidence, shared: Family) -> Row:
    """Describe a timing as if no limit covered it; each limit looks at the interval again."""
    compared = row.word in {Word.UNCHANGED, Word.CHANGED}  # both complete, and nothing forbids a comparison
    changes = log_changes(evidence, row.metric) if compared else []
    shift = estimate_shift(changes, shared.level((row.target, row.metric))) if changes else None
    change = None if shift is None else interval(shift, len(changes))
    doubt = _timing_doubt(row, evidence, shared, len(changes), change)
    if doubt is None:
        return row if change is None else replace(row, word=plain_word(change), interval=change)
    if not compared:
        return replace(row, shortfall=row.shortfall or doubt)
    return replace(row, word=Word.INCONCLUSIVE, reason=doubt.reason, interval=change, shortfall=doubt)


def _timing_doubt(
    row: Row, evidence: BenchmarkEvidence, shared: Family, pairs: int, change: Interval | None
) -> Shortfall | None:
    """Return what keeps a timing from passing: a target that failed before its end, the runner, or too few pairs."""
    is_gated = (row.target, row.metric) in shared.levels
    enough = change is not None and (not is_gated or pairs >= shared.needed_pairs)
    runner = _runner_doubt(shared, is_gated=is_gated)
    if failed := evidence["failure"]:  # rounds are missing: those that ran may prove a regression, and no more
        policy = _missing_policy(failed["side"], failed["failure"]["type"])
        reason = f"{failed['side']}: {_failure_text(evidence)}"
        can_fail = enough and not runner
        return Shortfall(reason=reason, policy=policy, can_fail=can_fail, is_of_head=failed["side"] == "head")
    if not runner and (enough or row.is_new):
        return None
    few = f"{pairs} of {evidence['planned_pairs']} pairs were measured, {shared.needed_pairs} are needed"
    return Shortfall(reason=few if not enough and not row.is_new else runner, policy="on_inconclusive", is_of_head=True)


def _missing_policy(side: str, kind: str = "") -> Policy:
    """Return the policy that answers where evidence of a side is missing. ``kind`` is the failure's own name.

    What head's code may have done to base is unknown, and not base's own trouble.
    """
    return "on_unknown" if side == "head" or kind in {KILLED, TREE_CHANGED} else "on_missing_base"


def _runner_doubt(shared: Family, *, is_gated: bool) -> str:
    if shared.control is not None and shared.control.is_noisy:
        return f"noisy runner: base against itself moved {shared.control.estimate:+.1%}"
    if shared.control is None and is_gated:
        return f"the runner was not checked: fewer than {CONTROL_PAIRS} pairs of base against itself"
    return ""


def _scattered(row: Row, evidence: BenchmarkEvidence) -> Row:
    """Call resident sets changed only where every child of one side lies above every child of the other."""
    base, head = ((own["rss_bytes"] if own else []) for own in (evidence["base"], evidence["head"]))
    if few := [side for side, own in (("head", head), ("base", base)) if 0 < len(own) < RSS_CHILDREN]:
        count = len(head if few[0] == "head" else base)
        reason = f"{few[0]}: {count} of {RSS_CHILDREN} processes were measured"
        policy = _missing_policy(few[0])
        return replace(row, shortfall=Shortfall(reason=reason, policy=policy, is_of_head=few[0] == "head"))
    if row.word not in {Word.UNCHANGED, Word.CHANGED}:
        return row
    overlap = min(head) <= max(base) and min(base) <= max(head)
    return replace(row, word=Word.WITHIN_NOISE if overlap else Word.CHANGED, is_within_scatter=overlap)


def _beyond_the_floor(row: Row) -> Row:
    """Call a count unchanged where it differs by no more than equal code can differ by."""
    base, head = known(row.base), known(row.head)
    floor = METRICS[row.metric].noise_floor
    is_same = base is not None and head is not None and abs(head - base) <= floor * base
    return replace(row, word=Word.UNCHANGED) if is_same else row


def _unchecked(planned: PlannedTarget, evidence: BenchmarkEvidence) -> Shortfall | None:
    """Return that the outputs base wants compared were not: the target failed before. Nothing then passes."""
    benchmark = planned.base.benchmark if planned.base and planned.head else None
    if benchmark is None or benchmark.output_check.is_skipped or evidence["output_check"]["verdict"] != "not_run":
        return None
    failed = evidence["failure"]
    policy = _missing_policy(failed["side"], failed["failure"]["type"]) if failed else _missing_policy("head")
    return Shortfall(reason="the outputs were not compared", policy=policy, can_fail=True)


def _taken_away(row: Row, evidence: BenchmarkEvidence) -> Shortfall | None:
    """Return that base has no value and that head's code may be why."""
    failed = evidence["failure"]
    if is_complete(row.base) or failed is None or failed["failure"]["type"] not in {KILLED, TREE_CHANGED}:
        return None
    return Shortfall(reason=f"{failed['side']}: {_failure_text(evidence)}", policy="on_unknown")


def _total(report: BenchmarkReport | None, metric: str) -> MetricResult | None:
    return report["totals"].get(metric) if report else None
