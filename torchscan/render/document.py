"""``render_report``: one report, or two, as one file that opens anywhere."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from torchscan.compare.reports import compare_reports
from torchscan.render.benchmark_view import benchmark_page, comparison_page
from torchscan.render.costs import VIEWS
from torchscan.render.page import evidence_island, html_page
from torchscan.render.page_view import Page, build_page
from torchscan.render.svg import svg_page
from torchscan.report.analysis import AnalysisReport
from torchscan.report.benchmark import BenchmarkComparison, BenchmarkReport
from torchscan.report.schema import check_analysis, check_benchmark, check_benchmark_comparison

Format = Literal["html", "svg"]
View = Literal["module_flops", "macs", "dmas", "parameters", "parameter_bytes", "operator_flops"]
FORMATS = {"html": 1200, "svg": 1152}
"""Formats, and how many units wide their maps are drawn."""
_BENCHMARKS: dict[str, tuple[Callable[[Any], None], Callable[[Any, str], Any]]] = {
    "benchmark": (check_benchmark, benchmark_page),
    "benchmark_comparison": (check_benchmark_comparison, comparison_page),
}


def render_report(
    report: AnalysisReport | BenchmarkReport | BenchmarkComparison,
    *,
    format: Format = "html",  # noqa: A002 # the documented name of the argument
    before: AnalysisReport | None = None,
    title: str = "TorchScan analysis",
    metric: View = "module_flops",
) -> str:
    """Render a report as self-contained HTML or a standalone SVG. Nothing is fetched, remeasured or changed.

    ``before`` is an earlier analysis to compare with. ``metric`` is the map shown first. Benchmarks are
    rendered as HTML only.

    Raises:
        ValueError: an unknown format or metric, a malformed report, or two analyses that cannot be compared.
    """
    _check_options(format, title, metric)
    with _collection_paused():
        return _document(report, before, format, title, metric)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Pause the garbage collector: a large report is half a million containers, and each full pass walks them all.

    Rendering makes no cycles, so nothing is left behind.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _document(report: Any, before: AnalysisReport | None, format: str, title: str, metric: str) -> str:  # noqa: A002
    report_json = _as_json(report, "report")
    kind = report.get("report_type", "analysis")
    if isinstance(kind, str) and kind in _BENCHMARKS:
        return _benchmark(report, kind, before, format, title, report_json)
    if kind != "analysis":
        raise ValueError(
            f"report: report_type must be one of {', '.join(map(repr, _BENCHMARKS))} or absent, got {kind!r}"
        )
    check_analysis(report)
    page = _page(report, before, title, metric, format)
    if format == "svg":
        return svg_page(page)
    island = "" if page.has_static_evidence else evidence_island([row.evidence for row in page.rows])
    return html_page("report.html.j2", page, report_json=report_json, island=island)


def _benchmark(
    report: Any,
    kind: str,
    before: AnalysisReport | None,
    format: str,  # noqa: A002
    title: str,
    report_json: str,
) -> str:
    if format != "html":
        raise ValueError(f"a {kind.replace('_', ' ')} renders as 'html' only, got format {format!r}")
    if before is not None:
        raise ValueError("`before` belongs to analyses; compare two benchmarks with compare_benchmarks first")
    check, view = _BENCHMARKS[kind]
    check(report)
    return html_page("benchmark.html.j2", view(report, title), report_json=report_json)


def _page(report: AnalysisReport, before: AnalysisReport | None, title: str, metric: str, format: str) -> Page:  # noqa: A002
    options: dict[str, Any] = {
        "title": title,
        "metric": metric,
        "map_width": FORMATS[format],
        "is_drawing": format == "svg",
    }
    if before is None:
        return build_page(report, None, None, **options)
    _as_json(before, "before")
    try:
        check_analysis(before)
    except ValueError as error:
        raise ValueError(f"before: {error}") from error
    return build_page(report, before, compare_reports(before, report), **options)


def _check_options(format: str, title: str, metric: str) -> None:  # noqa: A002 # as above
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    if metric not in VIEWS:
        hint = "; operator MACs are one total of the whole model and have no map" if metric == "operator_macs" else ""
        raise ValueError(f"metric must be one of {', '.join(map(repr, VIEWS))}, got {metric!r}{hint}")
    if not isinstance(title, str):
        raise ValueError(f"title must be a string, got {type(title).__name__}")  # noqa: TRY004 # documented as ValueError


def _as_json(report: Any, where: str) -> str:
    """Write a report as JSON, which also proves that it is plain data without NaN or infinity."""
    if not isinstance(report, Mapping):
        raise ValueError(f"{where}: expected a torchscan report (a dict), got {type(report).__name__}")  # noqa: TRY004
    try:
        return json.dumps(report, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not plain JSON data: {error}") from error
