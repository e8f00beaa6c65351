"""Growth: calls, nesting, rows. Each line is a ratio or a time of this one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from models import deep, nested, shared
from tools import TOOLS

from torchscan import compare_reports, crawl_module, render_report


def median_seconds(run: Callable[[], Any], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ratio(model: torch.nn.Module, args: tuple[Any, ...], tool: str) -> float:
    analysis, plain = TOOLS[tool](model, args), TOOLS["forward"](model, args)
    analysis()
    return statistics.median(median_seconds(analysis, 1) / median_seconds(plain, 1) for _ in range(3))


def growth() -> None:
    print("| calls | full, deep | full, shared | structure, deep |\n| --: | --: | --: | --: |")
    for calls in (1000, 5000, 20000):
        numbers = (
            ratio(*deep(calls), "torchscan"),
            ratio(*shared(calls), "torchscan"),
            ratio(*deep(calls), "torchscan-structure"),
        )
        print(f"| {calls} | " + " | ".join(f"{n:.2f}x" for n in numbers) + " |")


def nesting() -> None:
    print("\n| nesting | full analysis, ms |\n| --: | --: |")
    for depth in (20, 60, 120, 200, 240):
        model, args = nested(depth)
        print(f"| {depth} | {1000 * median_seconds(lambda m=model, a=args: crawl_module(m, args=a)):.1f} |")


def rows() -> None:
    model, args = deep(10_000)
    before, after = crawl_module(model, args=args), crawl_module(model, args=args)
    after["layers"][5000]["metrics"]["macs"].update(value=65, known_value=65)
    print(f"\ncompare_reports, 10,000 rows each side: {median_seconds(lambda: compare_reports(before, after)):.3f} s")
    page = render_report(after, before=before)
    print(
        f"render_report, the same, before/after: {median_seconds(lambda: render_report(after, before=before)):.3f} s",
        end=", ",
    )
    print(f"{len(page.encode()) / 1024:.0f} KiB")


if __name__ == "__main__":
    torch.set_num_threads(1)
    growth()
    nesting()
    rows()
