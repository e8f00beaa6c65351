"""Pages of a measured workload and of two, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torchscan.render.charts import Axis, Side, axis, side
from torchscan.render.context import Field
from torchscan.render.diagnostics_view import Group, diagnostic_groups
from torchscan.render.labels import FIELDS
from torchscan.render.profile_view import Moved, Profile, profile_changes, profile_view
from torchscan.render.shapes import shape_text
from torchscan.render.totals_view import Total, compared_total, plain_total
from torchscan.render.units import relative, text, timing
from torchscan.report.benchmark import BenchmarkComparison, BenchmarkReport
from torchscan.report.metric import MetricResult

CHART_WIDTH = 1080
CHART_HEIGHT = 200
_CARDS = ("latency", "first_call_latency", "throughput", "operator_flops", "peak_memory", "process_peak_rss")
_PASSES = {
    "Timing": "latency",
    "Operator FLOPs": "operator_flops",
    "Memory": "peak_memory",
    "RSS": "process_peak_rss",
}
CHANGES = {
    "faster": "Faster",
    "slower": "Slower",
    "within_variability": "Within variability",
    "unavailable": "Latency change unavailable",
}


@dataclass(frozen=True, slots=True)
class Charts:
    """Blocks of one side or two on shared axes."""

    along: Axis
    upward: Axis
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class MemoryBar:
    """One peak on its own axis: bars of different scopes are never comparable."""

    label: str
    scope: str
    parts: tuple[tuple[str, str, float], ...]  # name, text, share of the peak


@dataclass(frozen=True, slots=True)
class Ruler:
    """A relative change on an axis around zero, and the zone that the blocks' own spread covers."""

    axis: Axis
    zero: float
    point: float
    band: tuple[float, float]
    text: str


@dataclass(frozen=True, slots=True)
class BenchmarkPage:
    """Everything that the templates of a workload, or of two, show."""

    title: str
    subject: str
    is_comparison: bool
    headline: str
    passes: list[tuple[str, str]]
    cards: list[Total]
    totals: list[Total]
    charts: Charts | None
    memory: list[MemoryBar]
    profile: Profile | None
    fields: list[Field]
    groups: list[Group]
    samples: list[tuple[str, list[str]]]
    ruler: Ruler | None = None
    output_check: str = ""
    moved: tuple[Moved, ...] = ()


def benchmark_page(report: BenchmarkReport, title: str) -> BenchmarkPage:
    """Arrange one measured workload."""
    totals = [plain_total(name, result) for name, result in report["totals"].items()]
    return BenchmarkPage(
        title=title,
        subject=f"Workload on {report['context'].get('device_name') or report['context']['device']}",
        is_comparison=False,
        headline=_headline(report),
        passes=_pass_states(report),
        cards=_cards(totals),
        totals=totals,
        charts=_charts([("blocks", report)]),
        memory=_memory(report),
        profile=profile_view(report["profile"]) if "profile" in report else None,
        fields=benchmark_fields(report, None),
        groups=diagnostic_groups(report["diagnostics"]),
        samples=[("blocks", _samples(report))],
    )


def comparison_page(comparison: BenchmarkComparison, title: str) -> BenchmarkPage:
    """Arrange two measured workloads. A failed output check keeps both sides' numbers and shows no change."""
    before, after = comparison["before"], comparison["after"]
    failed = comparison["output_check"] == "failed"
    totals = [
        compared_total(
            name,
            each["before"],
            each["after"],
            withheld="outputs differ, change withheld" if failed else "",
            is_better_when_larger=name == "throughput",
        )
        for name, each in comparison["totals"].items()
    ]
    ruler = None if failed else _ruler(before, after)
    profiles = ("profile" in before, "profile" in after)
    return replace(
        benchmark_page(after, title),
        is_comparison=True,
        headline=_change_headline(comparison, ruler),
        cards=_cards(totals),
        totals=totals,
        charts=_charts([("base", before), ("head", after)]),
        fields=benchmark_fields(after, before),
        samples=[("base", _samples(before)), ("head", _samples(after))],
        ruler=ruler,
        output_check=comparison["output_check"],
        moved=tuple(profile_changes(before["profile"], after["profile"])) if all(profiles) else (),
    )


def _cards(totals: Sequence[Total]) -> list[Total]:
    by_name = {total.name: total for total in totals}
    return [by_name[name] for name in _CARDS if name in by_name]


def _value(report: BenchmarkReport, name: str) -> float | None:
    result: MetricResult | None = report["totals"].get(name)
    return None if result is None else result["value"]


def _headline(report: BenchmarkReport) -> str:
    median, iqr = _value(report, "latency"), _value(report, "latency_iqr")
    if median is None or iqr is None:
        return "Latency was not measured."
    shown, spread = timing(median, iqr)
    return f"{shown} per call, IQR {spread}, {len(report['measurement']['raw_times_seconds'])} blocks."


def _pass_states(report: BenchmarkReport) -> list[tuple[str, str]]:
    states = []
    for label, name in _PASSES.items():
        result = report["totals"].get(name)
        states.append((label, "absent" if result is None else plain_total(name, result).state))
    return [*states, ("Profiler", "complete" if "profile" in report else "not requested")]


def _seconds_per_call(report: BenchmarkReport) -> list[float]:
    number = report["measurement"]["number_per_run"]
    return [seconds / number for seconds in report["measurement"]["raw_times_seconds"]] if number else []


def _charts(sides: Sequence[tuple[str, BenchmarkReport]]) -> Charts | None:
    values = {name: _seconds_per_call(report) for name, report in sides}
    everything = [value for each in values.values() for value in each]
    if not everything or not all(values.values()):
        return None
    along, upward = axis(everything, CHART_WIDTH), axis(everything, CHART_HEIGHT, ticks=4)
    drawn = tuple(side(name, each, along, upward, CHART_WIDTH) for name, each in values.items())
    return Charts(along, upward, drawn)


def _memory(report: BenchmarkReport) -> list[MemoryBar]:
    bars = []
    memory: Mapping[str, Any] | None = report.get("memory")
    if memory is not None:
        peak = memory["peak_bytes"]
        parts = [("baseline", memory["baseline_bytes"]), ("during the call", memory["delta_bytes"])]
        shares = tuple((name, text(size, "bytes"), _percentage(size, peak)) for name, size in parts)
        bars.append(MemoryBar(f"Peak {text(peak, 'bytes')}", str(memory["metric"]).replace("_", " "), shares))
    rss = report["totals"].get("process_peak_rss")
    if rss is not None and rss["value"] is not None:
        written = text(rss["value"], "bytes")
        bars.append(
            MemoryBar(f"Process peak RSS {written}", rss["scope"].replace("_", " "), (("peak", written, 100.0),))
        )
    return bars


def _percentage(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def _samples(report: BenchmarkReport) -> list[str]:
    return [f"{value:.6g}" for value in _seconds_per_call(report)]


def benchmark_fields(report: BenchmarkReport, before: BenchmarkReport | None) -> list[Field]:
    """List the facts of a benchmark's context, or of two, those that differ first."""
    new: Mapping[str, Any] = report["context"]
    old: Mapping[str, Any] = {} if before is None else before["context"]
    fields = []
    for name, label in FIELDS.items():
        if name not in new and name not in old:
            continue
        texts = None if before is None else _shown(old.get(name)), _shown(new.get(name))
        fields.append(Field(label, texts[0], texts[1], before is not None and texts[0] != texts[1]))
    inputs = None if before is None else _inputs(before), _inputs(report)
    fields.append(Field("Input metadata", inputs[0], inputs[1], before is not None and inputs[0] != inputs[1]))
    return sorted(fields, key=lambda field: not field.differs)


def _inputs(report: BenchmarkReport) -> str:
    return shape_text(report["inputs"]) if isinstance(report["inputs"], Mapping) else "not provided"


def _shown(value: Any) -> str:
    return "not recorded" if value is None else str(value)


def _ruler(before: BenchmarkReport, after: BenchmarkReport) -> Ruler | None:
    medians = _value(before, "latency"), _value(after, "latency")
    spreads = _value(before, "latency_iqr"), _value(after, "latency_iqr")
    if not medians[0] or medians[1] is None or spreads[0] is None or spreads[1] is None:
        return None
    change = 100 * (medians[1] / medians[0] - 1)
    band = 100 * max(spreads[0], spreads[1]) / medians[0]
    reach = max(abs(change), band, 1.0) * 1.1
    scale = axis((-reach, reach), CHART_WIDTH, "percent", ticks=8)
    return Ruler(scale, scale.at(0), scale.at(change), (scale.at(-band), scale.at(band)), relative(change / 100))


def _change_headline(comparison: BenchmarkComparison, ruler: Ruler | None) -> str:
    if comparison["output_check"] == "failed":
        return "The output check failed: both measurements are shown, every change is withheld."
    words = CHANGES[comparison["latency_change"]]
    return words if ruler is None else f"{words}: median latency {ruler.text}."
