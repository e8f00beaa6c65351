"""Where a changed number comes from: the module calls whose own work moved most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.comparing import is_complete
from ci_action.core.metrics import label
from ci_action.core.verdict import Word
from ci_action.render.equal_blocks import Call, Group, fold
from torchscan.render import units
from torchscan.report.analysis import UNITS

if TYPE_CHECKING:
    from ci_action.core.spec import TargetResult
    from ci_action.core.verdict import TargetVerdict
    from torchscan.report.analysis import AnalysisReport
    from torchscan.report.metric import MetricResult

METRIC = "operator_flops"
"""The one metric whose rows are exclusive and add up to the total, so that a row's change is a share of the change."""
MOST_CALLS = 3

_Calls = dict[Call, "MetricResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One module call, or several equal ones, and what they add to the change."""

    target: str
    path: str
    call_index: int
    is_repeated: bool
    """Its module is called more than once, so that the call's number tells something."""
    blocks: int
    base: str
    head: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """The largest changes of one target, and how many of its calls changed."""

    target: str
    metric: str
    rows: tuple[Cause, ...]
    changed_calls: int
    all_calls: int
    """0 where only some of the calls are known."""

    @property
    def hides_calls(self) -> bool:
        """Whether more calls changed than the rows stand for."""
        return self.changed_calls > sum(row.blocks for row in self.rows)


def find_causes(target: TargetVerdict, base: TargetResult | None, head: TargetResult | None) -> Causes | None:
    """Rank the calls of a target by what they add to its change; None where the per-call metric did not change."""
    moved = {row.metric for row in target.rows if row.word in {Word.CHANGED, Word.IMPROVED, Word.REGRESSED}}
    reports = [result["report"] for result in (base, head) if result and result["report"]]
    if METRIC not in moved or len(reports) != 2:
        return None
    old, new = map(_calls, reports)
    changed = [call for call in {**old, **new} if _is_change(old, new, call)]
    groups = fold(changed, key=lambda call: (_work(old, call), _work(new, call)))

    def share(group: Group) -> float:
        return len(group.calls) * (_work(new, group.calls[0]) - _work(old, group.calls[0]))

    ranked = sorted(groups, key=lambda group: (-abs(share(group)), group.calls[0]))
    again = {path for path, call_index in {**old, **new} if call_index > 0}
    rows = tuple(
        _cause(target.id, group, old, new, is_repeated=group.calls[0][0] in again) for group in ranked[:MOST_CALLS]
    )
    found = Causes(
        target=target.id, metric=label(METRIC), rows=rows, changed_calls=len(changed), all_calls=len({**old, **new})
    )
    return found if rows else None


def _calls(report: AnalysisReport) -> _Calls:
    return {
        (layer["path"], layer["call_index"]): layer["metrics"][METRIC]
        for layer in report["layers"]
        if METRIC in layer["metrics"]
    }


def _is_change(old: _Calls, new: _Calls, call: Call) -> bool:
    """Whether both sides are sure of the call's work and differ. A call that a side lacks did no work there."""
    sure = all(call not in side or is_complete(side[call]) for side in (old, new))
    return sure and _work(old, call) != _work(new, call)


def _work(side: _Calls, call: Call) -> float:
    return side[call]["value"] or 0 if call in side else 0


def _cause(target: str, group: Group, old: _Calls, new: _Calls, *, is_repeated: bool) -> Cause:
    call, count, unit = group.calls[0], len(group.calls), UNITS[METRIC]  # not the report's own word for the unit
    times = f"{count} {units.TIMES} " if count > 1 else ""
    sides = units.metric_pair(*(_with_unit(side.get(call), unit) for side in (old, new)))
    base, head = (side if side == "absent" else f"{times}{side}" for side in sides)
    change = units.delta(count * _work(old, call), count * _work(new, call), unit)
    return Cause(
        target=target,
        path=group.path,
        call_index=call[1],
        is_repeated=is_repeated,
        blocks=count,
        base=base,
        head=head,
        change=change,
    )


def _with_unit(result: MetricResult | None, unit: str) -> MetricResult | None:
    return None if result is None else {**result, "unit": unit}
