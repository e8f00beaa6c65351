"""A target's benchmark as plain values: what was decided, from which pairs, on which machine."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1
from typing import TYPE_CHECKING

from ci_action.core.metrics import BENCHMARK_METRICS, METRICS, label
from ci_action.core.timing.assembling import side_report
from ci_action.core.timing.family import log_changes
from ci_action.core.timing.rounds import log_ratios, read_round
from ci_action.render.escape import name
from ci_action.render.pair_charts import WIDTH, ChangeChart, Timeline, change_chart, timeline
from ci_action.render.rows import RowView, row_view
from torchscan.render import units
from torchscan.render.benchmark_view import benchmark_fields
from torchscan.render.charts import Axis, Side, axis, side
from torchscan.report.blocks import quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.timing.evidence import BenchmarkEvidence, MachineState
    from ci_action.core.timing.rounds import Round
    from ci_action.core.verdict import Row, TargetVerdict
    from torchscan.render.context import Field
    from torchscan.report.metric import MetricResult

_CHECKS = {
    "passed": "passed: head's outputs equal base's within tolerance",
    "failed": "failed: the outputs differ, so every change is withheld",
    "not_run": "not run: nothing proves that both sides computed the same",
}
_MODES = {
    "lockstep": "both processes of a pair alive, their blocks in turn",
    "alternating": "one process after the other, for want of memory",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Blocks of both sides on one axis."""

    axis: Axis
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBar:
    """One side's peak: its length in percent of the larger side, and where its processes stand."""

    side: str
    text: str
    length: float
    is_bound: bool
    marks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Both sides of one scope. Scopes have axes of their own: they are never comparable, never added."""

    title: str
    scope: str
    bars: tuple[MemoryBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """One pair in numbers."""

    number: int
    kind: str
    order: str
    base: str
    head: str
    ratio: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkView:
    """Everything that a benchmark's page shows."""

    title: str
    rows: tuple[RowView, ...]
    facts: tuple[tuple[str, str], ...]
    changes: tuple[ChangeChart, ...]
    timeline: Timeline | None
    distribution: Distribution | None
    memory: tuple[Memory, ...]
    fields: tuple[Field, ...]
    rounds: tuple[RoundView, ...]

    @property
    def differing(self) -> tuple[Field, ...]:
        """The facts in which the sides differ."""
        return tuple(field for field in self.fields if field.differs)

    @property
    def shared(self) -> tuple[Field, ...]:
        """The facts that both sides share."""
        return tuple(field for field in self.fields if not field.differs)


def benchmark_view(target: TargetVerdict, evidence: BenchmarkEvidence) -> BenchmarkView:
    """Arrange one target's benchmark.

    Raises:
        EvidenceError: the rounds contradict themselves.
    """
    rows = [row for row in target.rows if row.metric in BENCHMARK_METRICS]
    base, head = (side_report(evidence, which) for which in ("base", "head"))
    drawn = (_change(row, evidence) for row in rows if METRICS[row.metric].timing)
    known, is_withheld = head or base, evidence["output_check"]["verdict"] == "failed"
    return BenchmarkView(
        title=name(target.id),
        rows=tuple(map(row_view, rows)),
        facts=tuple(_facts(evidence)),
        changes=tuple(chart for chart in drawn if chart),
        timeline=timeline(evidence["rounds"]),
        distribution=_distribution(evidence["rounds"]),
        memory=tuple(found for row in rows if (found := _memory(row, evidence))),
        fields=tuple(benchmark_fields(known, base if head else None)) if known else (),
        rounds=tuple(_round(number, item, is_withheld) for number, item in enumerate(evidence["rounds"], start=1)),
    )


def _change(row: Row, evidence: BenchmarkEvidence) -> ChangeChart | None:
    """Draw a timing's pairs, unless its changes are withheld: a picture would tell what the words may not."""
    if evidence["output_check"]["verdict"] == "failed":
        return None
    controls = log_ratios(evidence["rounds"], "control")
    if row.metric == "throughput":  # units over time: its logarithm turns round
        controls = [-value for value in controls]
    return change_chart(row, label(row.metric), log_changes(evidence, row.metric), controls)


def _facts(evidence: BenchmarkEvidence) -> list[tuple[str, str]]:
    kinds = [item["kind"] for item in evidence["rounds"]]
    controls = kinds.count("control")
    check = evidence["output_check"]
    found = [
        ("Pairs", f"{kinds.count('pair')} of {evidence['planned_pairs']} planned"),
        ("Control pairs", f"{controls} of base against itself" if controls else "none of base against itself"),
        ("Pairing", _MODES[evidence["mode"]]),
        ("Output check", _CHECKS[check["verdict"]]),
        ("Order drawn from seed", str(evidence["seed"])),
    ]
    return [*found, *_machine(evidence["machine"])]


def _machine(states: Sequence[MachineState]) -> list[tuple[str, str]]:
    """Say between which values the machine moved while it measured."""
    found = []
    for title, key, write in (
        ("Load of the machine", "load", "{:.2f}".format),
        ("Stolen processor time", "steal_share", "{:.1%}".format),
        ("Processor clock", "frequency_hertz", lambda hertz: f"{hertz / 1e9:.2f} GHz"),
    ):
        values = [value for state in states if (value := state[key]) is not None]  # type: ignore[literal-required]
        if values:
            ends = dict.fromkeys((write(min(values)), write(max(values))))
            found.append((title, " to ".join(ends)))
    return found


def _distribution(rounds: Sequence[Round]) -> Distribution | None:
    """Put the blocks of all pairs on one axis. Controls belong to no side."""
    pairs = [read_round(item) for item in rounds if item["kind"] == "pair"]
    if not pairs:
        return None
    values = {
        "base": [value for pair in pairs for value in pair.a_seconds],
        "head": [value for pair in pairs for value in pair.b_seconds],
    }
    along = axis([*values["base"], *values["head"]], WIDTH)
    return Distribution(axis=along, sides=tuple(side(each, own, along, along, WIDTH) for each, own in values.items()))


def _memory(row: Row, evidence: BenchmarkEvidence) -> Memory | None:
    if METRICS[row.metric].quantity != "bytes":
        return None
    sides: list[tuple[str, MetricResult]] = [
        (which, result)
        for which, result in (("base", row.base), ("head", row.head))
        if result is not None and result["known_value"] is not None
    ]
    if not sides:
        return None
    marks = {which: _children(evidence, which) if row.metric == "process_peak_rss" else [] for which, _ in sides}
    largest = max(
        [result["known_value"] or 0 for _, result in sides] + [mark for own in marks.values() for mark in own]
    )
    bars = tuple(
        MemoryBar(
            side=which,
            text=units.metric(result),
            length=_percentage(result["known_value"] or 0, largest),
            is_bound=result["status"] == "partial",
            marks=tuple(_percentage(mark, largest) for mark in marks[which]),
        )
        for which, result in sides
    )
    return Memory(title=label(row.metric), scope=name(sides[-1][1]["scope"].replace("_", " ")), bars=bars)


def _children(evidence: BenchmarkEvidence, which: str) -> list[int]:
    own = evidence["base"] if which == "base" else evidence["head"]
    return own["rss_bytes"] if own else []


def _percentage(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def _round(number: int, item: Round, is_withheld: bool) -> RoundView:
    pair = read_round(item)
    medians = [quantile(values, 0.5) for values in (pair.a_seconds, pair.b_seconds)]
    return RoundView(
        number=number,
        kind="control" if item["kind"] == "control" else "pair",
        order=item["order"],
        base=units.text(medians[0], "seconds", like=medians),
        head=units.text(medians[1], "seconds", like=medians),
        ratio="withheld" if is_withheld and item["kind"] == "pair" else units.relative(expm1(pair.log_ratio)),
    )
