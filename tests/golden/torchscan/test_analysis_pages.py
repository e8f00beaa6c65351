"""Whole pages as golden files, each beside an invariant that a wrong golden could not meet."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.dom import minidom

import pytest
from support.golden import check_golden
from support.markup import check_structure
from support.reports import make_report, small_net

from torchscan.compare.reports import compare_reports
from torchscan.render.document import render_report
from torchscan.report.analysis import AnalysisReport

HERE = Path(__file__).parent
NO_FORMULA = {
    "code": "unsupported_module_metric",
    "severity": "warning",
    "metric": "macs",
    "message": "CustomGate has no formula; pass custom_modules to supply one",
}
MODEL = make_report(small_net((16, 16, 16, 16)))
PARTIAL = make_report(
    small_net((16, 16, 16, 16), formula=False), diagnostics=[{**NO_FORMULA, "path": "gate", "call_index": 0}]
)
CHANGED = make_report(small_net((16, 16, 16, 24)))
GROWN = make_report(small_net((16, 16, 16, 16, 16)))
OTHER_TORCH = make_report(small_net((16, 16, 16, 24)), context={"torch_version": "2.14.0"})

CASES = {
    "complete": (MODEL, None),
    "partial": (PARTIAL, None),
    "changed": (CHANGED, MODEL),
    "evidence_lost": (PARTIAL, MODEL),
    "grown": (GROWN, MODEL),
    "shrunk": (MODEL, GROWN),
    "incomparable": (OTHER_TORCH, MODEL),
    "equal": (MODEL, MODEL),
}


@pytest.mark.parametrize("name", CASES)
def test_html(name: str, pytestconfig: pytest.Config) -> None:
    report, before = CASES[name]

    page = render_report(report, before=before)

    check_structure(page)
    assert_root_holds_the_totals(page, report)
    content = page[page.index("<body>") : page.index("<script>")]  # style and script are their own files
    check_golden(re.sub(r'base64,[^"]*', "base64,", content), HERE / f"{name}.html", pytestconfig)


@pytest.mark.parametrize("name", CASES)
def test_svg(name: str, pytestconfig: pytest.Config) -> None:
    report, before = CASES[name]

    drawing = render_report(report, before=before, format="svg")

    root = minidom.parseString(drawing.encode()).documentElement
    check_tiles(root)
    assert not root.getElementsByTagName("script")
    check_golden(drawing, HERE / f"{name}.svg", pytestconfig)


@pytest.mark.parametrize("path", sorted((HERE / "reports").glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_report_of_an_older_version_still_renders(path: Path) -> None:
    report = json.loads(path.read_text(encoding="utf-8"))

    check_structure(render_report(report))
    assert compare_reports(report, report)["layers"]["changed"] == []


def assert_root_holds_the_totals(page: str, report: AnalysisReport) -> None:
    root = page[page.index('id="m0"') :].split("</summary>", maxsplit=1)[0].replace(",", "")
    known = [report["totals"][name]["known_value"] for name in ("module_flops", "operator_flops", "macs", "parameters")]
    assert all(f"{value}" in root for value in known)


def check_tiles(root: minidom.Element) -> None:
    """Rows of the map never overlap and never leave the sheet."""
    rows: dict[int, list[tuple[float, float]]] = {}
    (tiles,) = [group for group in root.getElementsByTagName("g") if group.hasAttribute("transform")]
    for box in tiles.getElementsByTagName("rect"):
        x, width = float(box.getAttribute("x")), float(box.getAttribute("width"))
        rows.setdefault(int(box.getAttribute("y")), []).append((x, x + width))
    for row in rows.values():
        row.sort()
        assert all(right <= left + 0.11 for (_, right), (left, _) in pairwise(row))
        assert row[-1][1] <= 1152
