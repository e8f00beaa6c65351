"""Diagnostics grouped by what they say, and next steps that follow from recorded facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchscan.render.labels import metric_label
from torchscan.render.map_view import MapView
from torchscan.report.analysis import NOT_REQUESTED, AnalysisReport
from torchscan.report.diagnostic import Diagnostic

MOST_PATHS = 20
MOST_STEPS = 5


@dataclass(frozen=True, slots=True)
class Group:
    """Diagnostics of one code and one subject."""

    code: str
    severity: str
    subject: str
    message: str
    count: int
    paths: tuple[str, ...]

    @property
    def more_paths(self) -> int:
        return self.count - len(self.paths) if self.paths else 0


def diagnostic_groups(diagnostics: Sequence[Diagnostic]) -> list[Group]:
    """Group by code and operator or metric, errors first, then the most frequent."""
    groups: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for each in diagnostics:
        subject = each.get("operator") or metric_label(each["metric"])
        groups.setdefault((each["severity"], each["code"], subject), []).append(each)
    listed = [
        Group(
            code=code,
            severity=severity,
            subject=subject,
            message=found[0]["message"],
            count=len(found),
            paths=tuple([_place(each) for each in found if "path" in each][:MOST_PATHS]),
        )
        for (severity, code, subject), found in groups.items()
    ]
    return sorted(listed, key=lambda group: (group.severity != "error", -group.count, group.code, group.subject))


def _place(diagnostic: Diagnostic) -> str:
    return diagnostic["path"] or "the model itself"


def next_steps(report: AnalysisReport, groups: Sequence[Group], maps: Sequence[MapView]) -> list[tuple[str, str]]:
    """Give pairs of a recorded fact and an experiment that it suggests. Nothing here promises a gain."""
    steps: list[tuple[str, str]] = []
    operators = [group.subject for group in groups if group.code == "uncounted_operator"]
    if operators:
        shown = ", ".join(operators[:3])
        steps.append((f"No formula for {shown}.", "Pass a formula per operator as custom_mapping and analyse again."))
    modules = [group for group in groups if group.code == "unsupported_module_metric"]
    if modules:
        fact = f"{modules[0].message.partition(';')[0].rstrip('.')}."
        steps.append((fact, "Pass a ModuleHandler for the type in custom_modules to supply its estimates."))
    estimated = report["totals"].get("module_flops")
    if estimated is not None and estimated["method"] == NOT_REQUESTED:
        steps.append(('This is a mode="structure" report.', 'Analyse with mode="full" for FLOPs, MACs and DMAs.'))
    steps.extend(_dominant(maps))
    return steps[:MOST_STEPS]


def _dominant(maps: Sequence[MapView]) -> list[tuple[str, str]]:
    """Name what holds most of the work: a change elsewhere can move the total by no more than the rest."""
    for view in maps:
        if view.metric in ("operator_flops", "module_flops") and view.bars and view.bars[0].share:
            top = view.bars[0]
            if top.share.startswith("<") or float(top.share.rstrip("%")) < 30:
                continue
            fact = f"{top.name} holds {top.share} of {metric_label(view.metric)}."
            return [
                (fact, "Measure its latency with measure_latency before changing anything else: FLOPs are not speed.")
            ]
    return []
