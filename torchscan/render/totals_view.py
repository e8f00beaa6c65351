"""Totals as cards and table rows, and the sentences above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torchscan.render.labels import metric_label, state_label
from torchscan.render.units import ARROW, NBSP, delta, exact, metric, metric_pair, percent
from torchscan.report.analysis import STORAGE_TOTALS, TOTALS, AnalysisReport
from torchscan.report.metric import MetricResult

CARDS = ("module_flops", "operator_flops", "macs", "parameters", "parameter_bytes")
_NEITHER_BETTER_NOR_WORSE = frozenset(("trainable_parameters", "frozen_parameters"))
_SENTENCE = ("module_flops", "operator_flops", "macs", "dmas", "operator_macs", "parameters")
_STATES = {
    "complete": "complete",
    "measured zero": "complete",
    "lower bound": "lower bound",
    "nothing counted yet": "lower bound",
    "not requested": "not requested",
    "not applicable": "not applicable",
    "unavailable": "unavailable",
    "absent": "absent",
}


@dataclass(frozen=True, slots=True)
class Total:
    """One total, on one side or two. ``change`` is empty where nothing changed or nothing may be said."""

    name: str
    label: str
    text: str
    exact: str
    state: str
    scope: str
    method: str
    before: str = ""
    change: str = ""
    percent: str = ""
    direction: str = ""
    is_equal: bool = True
    arrow: str = ""
    why: str = ""  # why no change is computed

    @property
    def number(self) -> str:
        """The text without the unit of a rate, which cards set small."""
        return self.text.removesuffix(self.unit).rstrip(NBSP) if self.unit else self.text

    @property
    def unit(self) -> str:
        """The unit of a rate, or nothing: other units are part of the text or of the label."""
        last = self.text.rpartition(NBSP)[2]
        return last if last.endswith("/s") else ""

    @property
    def is_partial(self) -> bool:
        return _STATES[self.state] == "lower bound"


def totals_view(report: AnalysisReport, before: AnalysisReport | None, withheld: Sequence[str]) -> list[Total]:
    """Write every total in report order. Execution totals show no change where the two sides ran differently."""
    new, old = report["totals"], {} if before is None else before["totals"]
    names = [name for name in dict.fromkeys([*TOTALS, *old, *new]) if name in old or name in new]
    reason = "change withheld: the two sides ran differently" if withheld else ""
    if before is None:
        return [plain_total(name, new[name]) for name in names]
    return [
        compared_total(
            name,
            old.get(name),
            new.get(name),
            withheld="" if name in STORAGE_TOTALS else reason,
            is_cost=name not in _NEITHER_BETTER_NOR_WORSE,
        )
        for name in names
    ]


def plain_total(name: str, result: MetricResult | None, other: MetricResult | None = None) -> Total:
    """Write one side of a total. ``other`` lends scope and method where this side has none."""
    known = result or other
    return Total(
        name=name,
        label=metric_label(name),
        text=metric(result),
        exact=_exact(result),
        state=state_label(result),
        scope=known["scope"].replace("_", " ") if known else "",
        method=known["method"] if known else "",
    )


def compared_total(
    name: str,
    before: MetricResult | None,
    after: MetricResult | None,
    *,
    withheld: str = "",
    is_cost: bool = True,
    is_better_when_larger: bool = False,
) -> Total:
    """Write both sides of a total. ``withheld`` is the reason for which no change may be shown."""
    plain = plain_total(name, after, before)
    texts = metric_pair(before, after)
    if before == after:
        return replace(plain, before=texts[0], text=texts[1])
    both = replace(
        plain, before=texts[0], text=texts[1], exact=f"{_exact(before)} {ARROW} {_exact(after)}", is_equal=False
    )
    if withheld:
        return replace(both, why=withheld)
    if before is None or after is None or before["value"] is None or after["value"] is None:
        states = dict.fromkeys((state_label(before), state_label(after)))
        return replace(both, why=f"no change computed: {f' {ARROW} '.join(states)}")
    old, new = before["value"], after["value"]
    return replace(
        both,
        change=delta(old, new, after["unit"]),
        percent=percent(old, new),
        direction=("worse" if (new > old) is not is_better_when_larger else "better") if is_cost else "",
        arrow="▲" if new > old else "▼",
    )


def _exact(result: MetricResult | None) -> str:
    if result is None or result["known_value"] is None:
        return state_label(result)
    bound = "at least " if result["status"] == "partial" else ""
    return f"{bound}{exact(result['known_value'], result['unit'])}"


def sentences(totals: Sequence[Total]) -> list[tuple[str, str]]:
    """Say in words which totals can be trusted: (state, names) in order of concern."""
    groups: dict[str, list[str]] = {}
    for total in sorted(
        (each for each in totals if each.name in _SENTENCE), key=lambda each: _SENTENCE.index(each.name)
    ):
        groups.setdefault(_STATES[total.state], []).append(total.label)
    order = ("unavailable", "absent", "lower bound", "not requested", "not applicable", "complete")
    return [(state, _listed(groups[state])) for state in order if state in groups]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def cards(totals: Sequence[Total]) -> list[Total]:
    """Pick the headline totals."""
    by_name: Mapping[str, Total] = {total.name: total for total in totals}
    return [by_name[name] for name in CARDS if name in by_name]
