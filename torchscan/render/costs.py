"""What each block costs, everything below it included, with the status that its parts leave.

Rows differ in what they hold: storage and operator FLOPs are the module's own, formula estimates of a container already
include its children, and a handler may own its whole subtree. Here all become inclusive sums over the path tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from torchscan.render.fold import Layout
from torchscan.report.analysis import LayerReport
from torchscan.report.metric import MetricResult, Number, Status

VIEWS = ("module_flops", "macs", "dmas", "operator_flops", "parameters", "parameter_bytes")
"""Metrics that every module has a share of, so that they can be drawn as a map."""

_STORAGE = frozenset(("parameters", "parameter_bytes"))
_OWN_WORK = frozenset(("operator_flops",))


class Cost(NamedTuple):
    """An inclusive cost. ``covered``: counted by a module above. ``absent``: no such module on this side."""

    known: Number | None
    status: Status | Literal["covered", "absent"]

    @property
    def size(self) -> Number:
        """The width it deserves: the known part, never negative."""
        return max(0, self.known or 0)


ABSENT = Cost(None, "absent")
_COVERED = Cost(None, "covered")
_UNKNOWN = Cost(None, "unavailable")


def block_costs(layout: Layout, metrics: Iterable[str], *, is_base: bool = False) -> dict[str, list[Cost]]:
    """Give the inclusive cost of one member of each block, for each metric."""
    sides = [block.members[0].base_calls if is_base else block.members[0].calls for block in layout.blocks]
    lone = [
        calls[0] if len(calls) == 1 and not inside else None for calls, inside in zip(sides, layout.below, strict=True)
    ]
    held = {name: [call[name] if call is not None else {} for call in lone] for name in ("parameters", "metrics")}
    return {
        metric: _costs(layout, metric, sides, held["parameters" if metric in _STORAGE else "metrics"])
        for metric in metrics
    }


def _costs(
    layout: Layout,
    metric: str,
    sides: Sequence[Sequence[LayerReport]],
    held: Sequence[Mapping[str, MetricResult]],
) -> list[Cost]:
    """Walk the blocks from the last to the first, so that children come before their parents.

    ``held`` are the results of leaves that were called once.
    """
    costs: list[Cost] = [ABSENT] * len(held)
    for index in range(len(costs) - 1, -1, -1):
        result = held[index].get(metric)
        if result is not None:  # nearly every block
            costs[index] = Cost(result["known_value"], result["status"])
        else:
            inside = layout.below[index]
            below = [times(costs[at], layout.counts[at]) for at in inside]
            costs[index] = _inclusive(sides[index], metric, below, has_children=bool(inside))
    return costs


def times(cost: Cost, count: int) -> Cost:
    """Give the cost of a whole run from that of one member."""
    return cost if cost.known is None or count == 1 else Cost(cost.known * count, cost.status)


def add(costs: Iterable[Cost]) -> Cost:
    """Add costs: complete if all are, a bound if any is known, and absent only where there is nothing at all."""
    known: Number = 0
    present = measured = whole = covered = 0
    for cost in costs:
        if cost.status == "absent":
            continue
        present += 1
        covered += cost.status == "covered"
        whole += cost.status in ("complete", "covered")
        if cost.known is not None:
            measured += 1
            known += cost.known
    if not present:
        return ABSENT
    if covered == present:
        return _COVERED
    if whole == present:
        return Cost(known, "complete")
    return Cost(known, "partial") if measured else _UNKNOWN


def _inclusive(calls: Sequence[LayerReport], metric: str, below: Sequence[Cost], *, has_children: bool) -> Cost:
    if not calls:
        return add(below)
    own = _own(calls, metric, has_children=has_children)
    if not has_children:
        return own
    whole = add([own, *below])
    # A container's own row also says what its children cannot: work between them that nobody counted.
    lacks = metric not in _STORAGE and any(_is_short(call["metrics"].get(metric)) for call in calls)
    return Cost(whole.known, "partial") if lacks and whole.status == "complete" else whole


def _is_short(result: MetricResult | None) -> bool:
    return result is not None and result["status"] == "partial"


def _own(calls: Sequence[LayerReport], metric: str, *, has_children: bool) -> Cost:
    """Give what the module costs beside its children."""
    if metric in _STORAGE:
        return _cost(calls[0]["parameters"].get(metric))
    if metric in _OWN_WORK or not has_children:
        return add([_call_cost(call, metric) for call in calls])
    return add([_call_cost(call, metric) if metric in call.get("metric_ownership", ()) else ABSENT for call in calls])


def _call_cost(call: LayerReport, metric: str) -> Cost:
    return _COVERED if metric in call.get("metric_owners", ()) else _cost(call["metrics"].get(metric))


def _cost(result: MetricResult | None) -> Cost:
    return _UNKNOWN if result is None else Cost(result["known_value"], result["status"])
