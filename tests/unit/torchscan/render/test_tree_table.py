"""The terminal's tree: every row fits, every number keeps its status, signs fall back to ASCII."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from support.golden import check_golden
from support.reports import Node, decoder, make_report, small_net

from torchscan.render.cells import cell_width, fit
from torchscan.render.terminal import Terminal, detect
from torchscan.render.tree_table import format_summary
from torchscan.report.analysis import AnalysisReport

GOLDEN = Path(__file__).parents[3] / "golden" / "torchscan"


def partial_report() -> AnalysisReport:
    missing = {"code": "unsupported_module_metric", "severity": "warning", "metric": "module_flops", "message": "x"}
    return make_report(
        decoder(12, formula=False),
        diagnostics=[{**missing, "path": f"blocks.{at}.attn.core", "call_index": 0} for at in range(12)],
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_golden(width: int, pytestconfig: pytest.Config) -> None:
    table = format_summary(partial_report(), width=width)

    assert max(map(cell_width, table.splitlines())) <= width
    assert "16 rows for 137 modules" in " ".join(table.split())
    check_golden(table + "\n", GOLDEN / f"tree-{width}.txt", pytestconfig)


def test_ascii_golden(pytestconfig: pytest.Config) -> None:
    table = format_summary(partial_report(), ascii_only=True)

    assert table.isascii()
    check_golden(table + "\n", GOLDEN / "tree-ascii.txt", pytestconfig)


@pytest.mark.parametrize("width", range(40, 121, 8))
@pytest.mark.parametrize("ascii_only", [True, False])
def test_no_row_is_wider_than_asked(width: int, *, ascii_only: bool) -> None:
    wide = make_report(Node("net", "網" * 20, children=(Node("é" * 90, "Linear", 3, 3), Node("漢字" * 40, "B", 3, 3))))
    for report in (partial_report(), wide):
        table = format_summary(report, width=width, ascii_only=ascii_only)
        assert max(map(cell_width, table.splitlines())) <= width


def test_a_lower_bound_has_its_sign_its_word_and_its_reason() -> None:
    lines = format_summary(partial_report(), width=120).splitlines()

    (line,) = [line for line in lines if line.startswith("Module FLOPs")]
    assert re.search(r"≥ 2\.958 G  lower bound: no whole formula for ScaledDotProduct ×12$", line)
    assert re.search(r"core +ScaledDotProduct .* —$", "\n".join(lines), re.MULTILINE)


def test_unfolded_shows_every_module() -> None:
    report = make_report(decoder(12))

    assert "137 rows for 137 modules" in format_summary(report, folded=False)


def test_hidden_rows_are_counted() -> None:
    table = format_summary(make_report(decoder(12)), folded=False, most_rows=10)

    assert "… 127 rows hidden" in table


def test_no_share_of_a_lower_bound() -> None:
    columns = ["params", "module_flops", "share"]

    assert "Share" in format_summary(make_report(decoder(3)), columns=columns)
    assert "Share" not in format_summary(partial_report(), columns=columns)


def test_control_characters_are_spelled_out() -> None:
    table = format_summary(make_report(Node("net", "\x1b[31m", children=(Node("\u202e", "Linear", 1, 1),))))

    assert "\x1b" not in table
    assert "\\u{202E}" in table


def test_colour_marks_only_what_is_not_whole() -> None:
    plain, coloured = (format_summary(partial_report(), color=color) for color in (False, True))

    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert set(re.findall(r"\x1b\[33m(.*?)\x1b", coloured)) == {"≥", "—"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["cost"]}, r"unknown columns \['cost'\]; choose from \['layer', 'type'"),
        ({"max_depth": -1}, "max_depth must be None or an integer of at least 0"),
        ({"width": 3}, "width must be None or an integer of at least 16"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        format_summary(make_report(small_net()), **options)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("abcdef", 6, "abcdef"), ("abcdefg", 5, "ab…fg"), ("漢字漢字", 5, "漢…字"), ("abc", 1, "…")],
)
def test_fit_counts_cells(text: str, width: int, expected: str) -> None:
    assert fit(text, width) == expected
    assert cell_width(expected) <= width


class Stream(io.StringIO):
    def __init__(self, *, is_terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._is_terminal, self._encoding = is_terminal, encoding

    @property
    def encoding(self) -> str:
        return self._encoding

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize(
    ("stream", "environ", "expected"),
    [
        (Stream(is_terminal=False), {}, Terminal(80, ascii=False, color=False, most_rows=None)),
        (Stream(is_terminal=True), {"COLUMNS": "100"}, Terminal(100, ascii=False, color=True, most_rows=200)),
        (Stream(is_terminal=True), {"COLUMNS": "500"}, Terminal(120, ascii=False, color=True, most_rows=200)),
        (Stream(is_terminal=True), {"NO_COLOR": "1"}, Terminal(80, ascii=False, color=False, most_rows=200)),
        (Stream(is_terminal=True), {"TERM": "dumb"}, Terminal(80, ascii=False, color=False, most_rows=200)),
        (
            Stream(is_terminal=False),
            {"FORCE_COLOR": "1", "NO_COLOR": "1"},
            Terminal(80, ascii=False, color=True, most_rows=None),
        ),
        (Stream(is_terminal=False, encoding="ascii"), {}, Terminal(80, ascii=True, color=False, most_rows=None)),
        (Stream(is_terminal=False, encoding="cp1252"), {}, Terminal(80, ascii=True, color=False, most_rows=None)),
    ],
)
def test_a_terminal_is_asked_what_it_can_show(stream: Stream, environ: dict[str, str], expected: Terminal) -> None:
    assert detect(stream, environ) == expected
