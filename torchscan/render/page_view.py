"""The whole page of an analysis as plain values. Templates only loop and choose; every number arrives as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchscan.render.context import Field, context_fields, withheld
from torchscan.render.costs import VIEWS, Cost, block_costs
from torchscan.render.diagnostics_view import Group, diagnostic_groups, next_steps
from torchscan.render.evidence import EvidenceWriter
from torchscan.render.fold import Layout, fold, lay_out
from torchscan.render.labels import metric_label
from torchscan.render.map_view import MapView, map_view
from torchscan.render.module_rows import COLUMNS, OPEN_DEPTH, BlockCosts, Row, module_rows
from torchscan.render.totals_view import Total, cards, sentences, totals_view
from torchscan.render.tree import Module, build_tree
from torchscan.render.units import pair
from torchscan.report.analysis import STORAGE_TOTALS, AnalysisReport
from torchscan.report.diagnostic import Diagnostic
from torchscan.report.diff import ReportDiff

MOST_ROWS = 10_000
STATIC_EVIDENCE_ROWS = 1_200
_LARGE_MAP = 150
_OPENED_CHANGES = 10
_MOST_SHOWN_AT_FIRST = 200
_FACT_LINE = ("torchscan", "torch", "Python", "Devices", "Dtypes", "Inputs")

Costs = Mapping[str, BlockCosts]


@dataclass(frozen=True, slots=True)
class ModulesSummary:
    """How much of the tree the page shows: shown and hidden add up to all."""

    modules: int
    rows: int
    calls: int
    added: int = 0
    removed: int = 0
    changed: int = 0
    cut_rows: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the templates show."""

    title: str
    subject: str
    metric: str
    is_comparison: bool
    sentences: list[tuple[str, str]]
    cards: list[Total]
    totals: list[Total]
    maps: list[MapView]
    columns: list[str]
    rows: list[Row]
    summary: ModulesSummary
    groups: list[Group]
    fields: list[Field]
    withheld: tuple[str, ...]
    steps: list[tuple[str, str]]
    has_static_evidence: bool

    @property
    def fact_line(self) -> str:
        """What ran, in one line."""
        shown = [field for label in _FACT_LINE for field in self.fields if field.label == label]
        return " · ".join(field.change if field.differs else f"{field.label} {field.after}" for field in shown)

    @property
    def changed_totals(self) -> list[Total]:
        return [total for total in self.totals if not total.is_equal]

    @property
    def equal_totals(self) -> list[Total]:
        return [total for total in self.totals if total.is_equal]


def build_page(
    report: AnalysisReport,
    before: AnalysisReport | None,
    diff: ReportDiff | None,
    *,
    title: str,
    metric: str,
    map_width: int = 1200,
    is_drawing: bool = False,
) -> Page:
    """Arrange one analysis, or two, for a reader. A drawing shows one map and no table of modules."""
    reasons = withheld(report, before) if before is not None else ()
    root = build_tree(
        report["layers"], report["context"].get("model_type", ""), () if before is None else before["layers"]
    )
    diagnostics = _by_path(report["diagnostics"])
    is_comparison = before is not None
    whole = lay_out(fold(root, _codes(diagnostics)))
    views = (metric,) if is_drawing else VIEWS
    sums = _both_sides(whole, views, is_comparison=is_comparison)
    gaps = {name: _gap(name, sums[name].head[0], report) for name in views}
    layout, costs = _cut(whole, {name: _rooted(name, sides, report, before) for name, sides in sums.items()})
    hidden = frozenset(name for name in VIEWS if reasons and name not in STORAGE_TOTALS)
    is_small = len(layout.blocks) <= STATIC_EVIDENCE_ROWS
    most = 600 if is_small else _LARGE_MAP
    maps = [
        map_view(name, layout, costs[name], compares=name not in hidden, most=most, width=map_width, gap=gaps[name])
        for name in views
    ]
    groups = diagnostic_groups(report["diagnostics"])
    totals = totals_view(report, before, reasons)
    return Page(
        title=title,
        subject=report["context"].get("model_type", "") or "Model",
        metric=metric,
        is_comparison=is_comparison,
        sentences=sentences(totals),
        cards=cards(totals),
        totals=totals,
        maps=maps,
        columns=[metric_label(name) for name in COLUMNS],
        rows=[] if is_drawing else _rows(layout, costs, diagnostics, hidden, maps, metric, is_comparison=is_comparison),
        summary=_summary(root, whole, report, diff),
        groups=groups,
        fields=context_fields(report, before),
        withheld=reasons,
        steps=next_steps(report, groups, maps),
        has_static_evidence=is_small,
    )


def _rows(
    layout: Layout,
    costs: Costs,
    diagnostics: Mapping[str, Sequence[Diagnostic]],
    hidden: frozenset[str],
    maps: Sequence[MapView],
    metric: str,
    *,
    is_comparison: bool,
) -> list[Row]:
    writer = EvidenceWriter(diagnostics, is_comparison=is_comparison)
    tags = [_tags(layout, index, costs, is_comparison=is_comparison) for index in range(len(layout.blocks))]
    opened = _opened(layout, tags, maps, metric)
    evidence = [writer.write(block) for block in layout.blocks]
    is_small = len(layout.blocks) <= STATIC_EVIDENCE_ROWS
    return module_rows(layout, costs, tags, evidence, opened, hidden, with_exact=is_small)


def _by_path(diagnostics: Sequence[Diagnostic]) -> dict[str, list[Diagnostic]]:
    found: dict[str, list[Diagnostic]] = {}
    for each in diagnostics:
        if "path" in each:
            found.setdefault(each["path"], []).append(each)
    return found


def _codes(diagnostics: Mapping[str, Sequence[Diagnostic]]) -> dict[str, frozenset[str]]:
    return {path: frozenset([each["code"] for each in found]) for path, found in diagnostics.items()}


def _both_sides(layout: Layout, metrics: Sequence[str], *, is_comparison: bool) -> Costs:
    head = block_costs(layout, metrics)
    base = block_costs(layout, metrics, is_base=True) if is_comparison else {}
    return {name: BlockCosts(head[name], base.get(name, ())) for name in metrics}


def _rooted(metric: str, sides: BlockCosts, report: AnalysisReport, before: AnalysisReport | None) -> BlockCosts:
    """Let the root show the report's own total, which counts shared storage once and uncalled modules as well."""
    head, base = list(sides.head), list(sides.base)
    for costs, side in ((head, report), (base, before)):
        total = side["totals"].get(metric) if side is not None else None
        if costs and total is not None:
            costs[0] = Cost(total["known_value"], total["status"])
    return BlockCosts(head, base)


def _gap(metric: str, summed: Cost, report: AnalysisReport) -> str:
    """Say where the modules' own storage does not add up to the model's."""
    total = report["totals"].get(metric)
    if metric not in STORAGE_TOTALS or total is None or total["value"] is None or summed.known is None:
        return ""
    if summed.known == total["value"]:
        return ""
    sums, holds = pair(summed.known, total["value"], total["unit"])
    return (
        f"The modules' own shares add up to {sums}, the model holds {holds}: shared tensors are drawn in every module "
        "that holds them, and modules that were not called have no block."
    )


def _cut(layout: Layout, costs: Costs) -> tuple[Layout, Costs]:
    """Keep the first rows of an immense tree. What is cut stays in the sums of the rows above it."""
    if len(layout.blocks) <= MOST_ROWS:
        return layout, costs
    kept = Layout(*(getattr(layout, name)[:MOST_ROWS] for name in Layout.__slots__))
    return kept, {name: BlockCosts(sides.head[:MOST_ROWS], sides.base[:MOST_ROWS]) for name, sides in costs.items()}


def _tags(layout: Layout, index: int, costs: Costs, *, is_comparison: bool) -> tuple[str, ...]:
    """Say in words what is special about a block."""
    block = layout.blocks[index]
    module = block.module
    if not module.calls and not module.base_calls:
        return ("not called",)
    tags = []
    if is_comparison:
        tags += _change_tags(module, index, costs)
    statuses = {costs[name].head[index].status for name in ("module_flops", "macs", "operator_flops")}
    if not statuses.isdisjoint(("partial",)):
        tags.append("lower bound")
    if not statuses.isdisjoint(("unavailable",)):
        tags.append("unavailable")
    return tuple(tags)


def _change_tags(module: Module, index: int, costs: Costs) -> list[str]:
    if not module.base_calls:
        return ["new"]
    if not module.calls:
        return ["removed"]
    changed = len(module.calls) != len(module.base_calls) or module.calls[0]["type"] != module.base_calls[0]["type"]
    if changed or any(costs[name].head[index] != costs[name].base[index] for name in VIEWS):
        return ["changed"]
    return []


def _opened(layout: Layout, tags: Sequence[tuple[str, ...]], maps: Sequence[MapView], metric: str) -> frozenset[int]:
    """Open the first levels, and in a comparison the ways to the largest changes."""
    opened = set(_first_levels(layout))
    ranked = [bar.id for view in maps if view.metric == metric for bar in view.bars]
    changed = [index for index in ranked if tags[index] and tags[index][0] in ("changed", "new", "removed")]
    for index in changed[:_OPENED_CHANGES]:
        above = layout.parents[index]
        while above >= 0 and above not in opened:
            opened.add(above)
            above = layout.parents[above]
    return frozenset(opened)


def _first_levels(layout: Layout) -> Iterator[int]:
    """Name the rows to open at first: two levels, as far as the page stays easy to look over and quick to lay out."""
    shown = 1
    for index, block in enumerate(layout.blocks):
        if layout.depths[index] < OPEN_DEPTH and block.count == 1:
            shown += len(block.children)
            if index == 0 or shown <= _MOST_SHOWN_AT_FIRST:
                yield index


def _summary(root: Module, layout: Layout, report: AnalysisReport, diff: ReportDiff | None) -> ModulesSummary:
    changes = diff["layers"] if diff is not None else {"added": [], "removed": [], "changed": []}
    return ModulesSummary(
        modules=sum(1 for _ in root.walk()),
        rows=min(MOST_ROWS, len(layout.blocks)),
        cut_rows=max(0, len(layout.blocks) - MOST_ROWS),
        calls=len(report["layers"]),
        added=len(changes["added"]),
        removed=len(changes["removed"]),
        changed=len(changes["changed"]),
    )
