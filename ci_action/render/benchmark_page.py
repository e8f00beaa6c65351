"""The page of one target's benchmark: pairs against their limit, every block in order, memory, contexts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ci_action.errors import EvidenceError
from ci_action.render.benchmark_view import benchmark_view
from ci_action.render.escape import name
from torchscan.render.labels import visible
from torchscan.render.page import packed
from torchscan.render.templates import environment, source

if TYPE_CHECKING:
    from ci_action.core.timing.evidence import BenchmarkEvidence
    from ci_action.core.verdict import TargetVerdict

_NUMBERS = ("version", "id", "seed", "mode", "planned_pairs", "rounds", "machine")
"""What of the evidence the page carries along: numbers and our own words, nothing that measured code could word."""


def benchmark_page(target: TargetVerdict, *, commits: str, version: str, model_page: str | None) -> str | None:
    """Draw a target's benchmark; None where it has none, or rounds that contradict themselves."""
    evidence = target.benchmark
    if evidence is None:
        return None
    try:
        view = benchmark_view(target, evidence)
    except EvidenceError:
        return None
    template = environment("ci_action", autoescape=True).get_template("benchmark.html.j2")
    return visible(
        template.render(
            page=view,
            notes=target.notes,
            commits=commits,
            version=version,
            model_page=model_page,
            download=_download(evidence),
            name=name,
            style=source("ci_action", "index.css").replace("NARROW_LABELS", "") + source("ci_action", "benchmark.css"),
        )
    )


def _download(evidence: BenchmarkEvidence) -> str:
    return packed(json.dumps({key: evidence[key] for key in _NUMBERS}))  # type: ignore[literal-required]
