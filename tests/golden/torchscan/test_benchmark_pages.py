"""Pages of workloads and comparisons as golden files, each beside an invariant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.golden import check_golden
from support.markup import check_structure
from support.measured import TIMES, make_benchmark

from torchscan.compare.benchmarks import compare_benchmarks
from torchscan.render.document import render_report

HERE = Path(__file__).parent
PROFILE = (("aten::addmm", 3, 40e-6), ("aten::gelu", 1, 20e-6))
BASE = make_benchmark(profile=PROFILE)
SLOWER = make_benchmark(
    [1.2 * seconds for seconds in TIMES], profile=(("aten::addmm", 3, 60e-6), ("aten::relu", 1, 5e-6))
)

PAGES = {
    "workload": BASE,
    "slower": compare_benchmarks(BASE, SLOWER, check=lambda: True),
    "outputs_differ": compare_benchmarks(BASE, SLOWER, check=lambda: False),
}


@pytest.mark.parametrize("name", PAGES)
def test_html(name: str, pytestconfig: pytest.Config) -> None:
    page = render_report(PAGES[name], title="Workload")

    check_structure(page)
    dots = re.findall(r'class="dots \w+" d="([^"]*)"', page)
    assert {path.count("M") for path in dots} == {len(TIMES)}
    content = page[page.index("<body>") : page.index("<script>")]
    check_golden(re.sub(r'base64,[^"]*', "base64,", content), HERE / f"{name}.html", pytestconfig)
