"""Workload and comparison pages in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.browser import Visit
from support.measured import TIMES, make_benchmark

from torchscan.compare.benchmarks import compare_benchmarks
from torchscan.render.document import render_report

pytestmark = pytest.mark.browser

PROFILE = (("aten::addmm", 3, 40e-6), ("aten::gelu", 1, 20e-6))
ONE = make_benchmark(TIMES * 5, profile=PROFILE)
OTHER = make_benchmark([1.2 * seconds for seconds in TIMES], profile=PROFILE)
PAGES = {
    "workload": render_report(ONE),
    "comparison": render_report(compare_benchmarks(ONE, OTHER, check=lambda: True)),
}
Open = Callable[..., Visit]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (320, False)])
def test_axe_finds_nothing(visit: Open, axe: str, name: str, width: int, *, dark: bool) -> None:
    seen = visit(PAGES[name], width=width, dark=dark)
    seen.page.evaluate(axe)

    found = seen.page.evaluate(
        "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
    )

    assert [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found["violations"]] == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    seen.assert_quiet()


@pytest.mark.parametrize("name", PAGES)
def test_charts_and_tables_need_no_script(visit: Open, name: str) -> None:
    page = visit(PAGES[name], script=False).page

    assert page.locator("svg.chart").first.is_visible()
    assert page.locator("table:visible").count() >= 2
