"""How long pages take to write and to open, and how large they are. Run by hand: timings never gate.

Each page is written five times, in turn with ``json.dumps`` of the same report: the ratio survives a busy machine, the
seconds do not. Ready is Chromium's own load event of the file, the median of three fresh contexts.

    PYTHONPATH=tests python tests/bench/render.py
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from support.reports import Node, decoder, linear, make_report, small_net

from torchscan.render.document import render_report
from torchscan.report.analysis import AnalysisReport

NAMES = ("qkv", "out", "up", "down", "gate", "norm", "act", "drop", "proj")
READY = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def distinct(rows: int) -> AnalysisReport:
    """A net in which no two modules are equal, so that nothing folds."""
    blocks = tuple(
        Node(
            f"block_{at}x",
            "Block",
            children=tuple(linear(name, 64 + at, 64 + at + more, tokens=128 + at) for more, name in enumerate(NAMES)),
        )
        for at in range(rows // 10)
    )
    return make_report(Node("net", "Net", children=blocks))


def measured(work: Callable[[], str], yardstick: Callable[[], str]) -> tuple[str, float, float]:
    """Give the text, its median seconds, and the median ratio to the yardstick."""
    seconds, ratios = [], []
    text = work()
    for _ in range(5):
        start = time.process_time()
        yardstick()
        middle = time.process_time()
        text = work()
        end = time.process_time()
        seconds.append(end - middle)
        ratios.append((end - middle) / max(middle - start, 1e-9))
    return text, statistics.median(seconds), statistics.median(ratios)


def ready_seconds(chromium: Any, page: Path) -> float:
    found = []
    for _ in range(3):
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        tab = context.new_page()
        tab.goto(page.as_uri())
        found.append(tab.evaluate(READY) / 1000)
        context.close()
    return statistics.median(found)


def main() -> None:
    small, large = make_report(small_net()), distinct(9_990)
    cases: dict[str, tuple[AnalysisReport, dict[str, Any]]] = {
        "small model": (small, {}),
        "decoder, 10,000 modules that fold": (make_report(decoder(910)), {}),
        "2,000 distinct rows": (distinct(2_000), {}),
        "10,000 distinct rows": (large, {}),
        "10,000 distinct rows, compared": (large, {"before": large}),
        "10,000 distinct rows, SVG": (large, {"format": "svg"}),
    }
    print("| report | rows | page | Python, CPU | over json.dumps | ready in Chromium |")
    print("| --- | --: | --: | --: | --: | --: |")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (report, options) in cases.items():
            text, seconds, ratio = measured(
                lambda report=report, options=options: render_report(report, **options),  # type: ignore[misc]
                lambda report=report: json.dumps(report),  # type: ignore[misc]
            )
            page = Path(folder) / ("page.svg" if options.get("format") == "svg" else "page.html")
            page.write_text(text, encoding="utf-8")
            ready = ready_seconds(chromium, page)
            size = f"{len(text.encode()) / 1024:,.0f} KiB"
            row = f"{len(report['layers']):,} | {size} | {seconds:.2f} s | {ratio:.1f}x | {ready:.2f} s"
            print(f"| {name} | {row} |")
            sys.stdout.flush()
        chromium.close()


if __name__ == "__main__":
    main()
