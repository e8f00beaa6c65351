"""The page about the report says what the code says: every field, total, metric and diagnostic code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from torchscan.report.analysis import LAYER_METRICS, METHODS, TOTALS, UNITS, AnalysisReport, Context, LayerReport
from torchscan.report.diagnostic import Diagnostic, DiagnosticCode
from torchscan.report.flops import FlopContext, FlopReport
from torchscan.report.metric import MetricResult, Status

TEXT = (Path(__file__).parents[4] / ".github/docs/report-schema.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return next(part for part in TEXT.split("\n## ") if part.startswith(title))


def rows(title: str) -> list[list[str]]:
    lines = [line for line in section(title).splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def names(title: str) -> list[str]:
    return [name for row in rows(title) for name in re.findall(r"`(\w+)`", row[0])]


def test_every_diagnostic_code_is_explained_and_no_other():
    assert sorted(names("Diagnostics")) == sorted(get_args(DiagnosticCode))
    assert all(len(row) == 3 and all(row) for row in rows("Diagnostics"))


def test_every_total_is_listed_with_its_unit_and_method():
    listed = {name.strip("`"): (unit, method.strip("`")) for name, unit, method, _ in rows("Totals")}
    assert listed == {total: (UNITS[total], METHODS[total]) for total in TOTALS}
    assert tuple(listed) == TOTALS


@pytest.mark.parametrize(
    ("title", "kind"), [("The report", AnalysisReport), ("One call", LayerReport), ("Operators", FlopReport)]
)
def test_every_field_is_listed_and_no_other(title, kind):
    assert sorted(names(title)) == sorted(kind.__annotations__)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("One number", (*MetricResult.__annotations__, *get_args(Status))),
        ("The report", Context.__annotations__),
        ("One call", LAYER_METRICS),
        ("Operators", FlopContext.__annotations__),
        ("Diagnostics", Diagnostic.__annotations__),
    ],
)
def test_what_a_field_holds_is_spelled_out(title, words):
    assert [word for word in words if not re.search(rf"\b{word}\b", section(title))] == []


def test_every_code_is_used_somewhere():
    root = Path(__file__).parents[4] / "torchscan"
    source = "".join(path.read_text(encoding="utf-8") for path in root.rglob("*.py") if path.name != "diagnostic.py")
    assert [code for code in get_args(DiagnosticCode) if f'"{code}"' not in source] == []
