"""From each call's own estimate to every row's metrics: who owns what, and what the calls inside add up to.

A call with an estimate of its own reports that. A call without one reports the sum of the calls inside, which is a
lower bound when work was dispatched between them. Both passes are linear in the calls and need no recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from torchscan.crawl.chain import chained_field
from torchscan.crawl.estimate import Estimate, Note
from torchscan.crawl.functional import (
    exceeds_formula,
    hook_notes,
    notes,
    tell_owners,
    unestimated_metrics,
    without_hook_work,
)
from torchscan.crawl.record import Call
from torchscan.crawl.sums import Sum, unavailable_result
from torchscan.formulas.receptive import METRICS as FIELD_METRICS
from torchscan.report.analysis import MODULE_METRICS, MetricOwner
from torchscan.report.metric import MetricResult

WORK_METRICS = ("module_flops", "macs", "dmas")
"""The estimates that add up over calls. Receptive fields compose instead."""

Ownership = Literal["module_call", "subtree"]
Owners = Mapping[str, MetricOwner]
Sums = dict[str, Sum]

_NOBODY: Owners = {}


@dataclass(slots=True)
class Row:
    """What one call reports. ``owners`` and ``ownership`` are as in LayerReport."""

    metrics: Mapping[str, MetricResult]
    owners: Owners
    ownership: Mapping[str, Ownership] | None = None
    notes: tuple[Note, ...] = ()


def aggregate(calls: list[Call]) -> tuple[list[Row], Sums]:
    """Give each call its row, in call order, and the sum of each work metric over the whole run."""
    inner = _inner_calls(calls)
    owners = _owners(calls)
    totals = _new_sums()
    inside: list[Sums | None] = [None] * len(calls)
    rows: list[Row] = [_EMPTY] * len(calls)
    for call in reversed(calls):  # what runs inside a call begins after it
        position = call.position
        above = totals
        if call.parent is not None:
            above = inside[call.parent.position] or _new_sums()
            inside[call.parent.position] = above
        row = rows[position] = _row(call, owners[position], inside[position], above)
        if not all(metric in row.metrics or metric in row.owners for metric in FIELD_METRICS):
            steps = [(calls[step], rows[step].metrics) for step in inner.get(position, ())]
            found = chained_field(call, steps)
            row.metrics = {**row.metrics, **{name: found[name] for name in found if name not in row.metrics}}
    return rows, totals


_EMPTY = Row({}, _NOBODY)


def _new_sums() -> Sums:
    return {metric: Sum() for metric in WORK_METRICS}


def _inner_calls(calls: list[Call]) -> dict[int, list[int]]:
    inner: dict[int, list[int]] = {}
    for call in calls:
        if call.parent is not None:
            inner.setdefault(call.parent.position, []).append(call.position)
    return inner


def _owners(calls: list[Call]) -> list[Owners]:
    """Find what each call's callers own of it. The outermost owner of a metric covers it all the way down."""
    owners: list[Owners] = []
    below: dict[int, Owners] = {}  # what the calls inside a call inherit, made once for all of them
    for call in calls:
        parent = call.parent
        if parent is None:
            owners.append(_NOBODY)
            continue
        inherited = below.get(parent.position)
        if inherited is None:
            inherited = owners[parent.position]
            if parent.estimate is not None and parent.estimate.subtree:
                owner: MetricOwner = {"path": parent.site.node.path, "call_index": parent.index}
                inherited = dict.fromkeys(sorted(parent.estimate.subtree), owner) | dict(inherited)
            below[parent.position] = inherited
        owners.append(inherited)
    return owners


def _row(call: Call, owners: Owners, inside: Sums | None, above: Sums) -> Row:
    estimate = call.estimate
    if estimate is None:
        return _row_without_formula(call, owners, inside, above)
    stated = _without_extra_work(call, estimate, owners)
    is_plain = stated is estimate.metrics and inside is None and not owners
    if is_plain and not estimate.is_custom and not estimate.subtree and _states_work(stated):
        for metric, total in above.items():  # nearly every leaf
            total.add(stated[metric])
        return Row(stated, owners, None, estimate.notes)
    metrics = {metric: result for metric, result in stated.items() if metric not in owners}
    left = [metric for metric in WORK_METRICS if metric not in stated and metric not in owners]
    own_notes = tuple(note for note in estimate.notes if not _is_settled(note, owners))
    found = _sum_inside(call, left, inside, above, metrics)
    row_notes = (
        *(note for note in own_notes if note.metric not in left or metrics[note.metric]["status"] != "complete"),
        *(note for note in found if note.metric not in {own.metric for own in own_notes}),
    )
    if stated is not estimate.metrics:
        row_notes += hook_notes(call)
    for metric in WORK_METRICS:
        if metric in metrics and metric not in left:
            above[metric].add(metrics[metric])
            if inside is not None and metric not in estimate.subtree:
                above[metric].merge(inside[metric])
    ownership: dict[str, Ownership] = {
        metric: "subtree" if metric in estimate.subtree else "module_call" for metric in stated if metric in metrics
    }
    return Row(_in_report_order(metrics), owners, ownership, row_notes)


def _without_extra_work(call: Call, estimate: Estimate, owners: Owners) -> Mapping[str, MetricResult]:
    """Give what a call states, as lower bounds where it dispatched work that its formula does not know."""
    stated = estimate.metrics
    if not estimate.is_custom and exceeds_formula(call, stated):
        call.hook_work = WORK_METRICS
    if call.hook_work and owners:
        tell_owners(call)
    hooked = call.hook_work + call.inner_hook_work
    return stated if estimate.is_custom or not hooked else without_hook_work(stated, hooked)


_SETTLED = frozenset({"unsupported_module_metric", "missing_metric_tensor", "expanded_atomic_boundary"})


def _states_work(stated: Mapping[str, MetricResult]) -> bool:
    return WORK_METRICS[0] in stated  # a formula states all three, unless its module counts as what runs inside


def _is_settled(note: Note, owners: Owners) -> bool:
    """Say whether a missing formula misses nothing, since an owner above states that work."""
    return note.code in _SETTLED and note.metric in owners


def _row_without_formula(call: Call, owners: Owners, inside: Sums | None, above: Sums) -> Row:
    metrics: dict[str, MetricResult] = {}
    left = [metric for metric in WORK_METRICS if metric not in owners]
    row_notes = _sum_inside(call, left, inside, above, metrics)
    return Row(metrics, owners, None, row_notes)


def _sum_inside(
    call: Call, left: list[str], inside: Sums | None, above: Sums, metrics: dict[str, MetricResult]
) -> tuple[Note, ...]:
    """Give the metrics that the call does not state itself: what the calls inside add up to."""
    if not left:
        return ()
    has_inner = inside is not None
    missing = tuple(metric for metric in unestimated_metrics(call, has_inner) if metric in left)
    for metric in left:
        total = Sum()
        if inside is not None:
            total.merge(inside[metric])
        if metric in missing:
            total.add_unknown()
        metrics[metric] = total.result(metric) if call.is_done else unavailable_result(metric)
        above[metric].merge(total)
    return notes(call, missing, has_inner) if missing else ()


def _in_report_order(metrics: dict[str, MetricResult]) -> dict[str, MetricResult]:
    return {metric: metrics[metric] for metric in MODULE_METRICS if metric in metrics}
