"""Every view says every state in words and in a sign or pattern, never by colour alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from support.markup import elements
from support.measured import TIMES
from support.measured import make_benchmark as make_measured
from support.reports import Node, linear, make_report, result, small_net

from torchscan.compare.benchmarks import compare_benchmarks
from torchscan.render.card import card_html, card_text
from torchscan.render.document import render_report
from torchscan.render.tree_table import format_summary
from torchscan.report.analysis import AnalysisReport

STATES: dict[str, tuple[int | None, int | None, str, str]] = {
    # state: value, known value, the number, the words beside it
    "complete": (8_178_000, None, "8.178 M", ""),
    "zero": (0, None, "0", "measured zero"),
    "partial": (None, 3_871_000, "≥ 3.871 M", "lower bound"),
    "partial, bound 0": (None, 0, "≥ 0", "nothing counted yet"),
    "unavailable": (None, None, "—", "unavailable"),
}


def page_card(report: AnalysisReport) -> str:
    """The card of the page, and the state that it says in words."""
    return render_report(report).partition("Module FLOPs</h3>")[2].partition("</li>")[0]


def footer_line(report: AnalysisReport) -> str:
    return next(line for line in format_summary(report).splitlines() if line.startswith("Module FLOPs"))


def notebook_item(report: AnalysisReport) -> str:
    return card_html(report).partition("<li>Module FLOPs")[2].partition("</li>")[0]


def drawing(report: AnalysisReport) -> str:
    return render_report(report, format="svg").partition("Module FLOPs")[2].partition("</text>")[0]


VIEWS: dict[str, Callable[[AnalysisReport], str]] = {
    "page": page_card,
    "svg": drawing,
    "table": footer_line,
    "notebook card": notebook_item,
    "notebook line": card_text,
}


def with_total(value: int | None, known: int | None) -> AnalysisReport:
    report = make_report(small_net())
    report["totals"]["module_flops"] = result("module_flops", value, "model", known)
    return report


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_total_in_every_state(view: str, state: str) -> None:
    value, known, number, words = STATES[state]

    shown = re.sub(r"<[^>]+>", " ", VIEWS[view](with_total(value, known))).replace("\u00a0", " ")

    assert re.search(rf"(?:^|[\s>]){re.escape(number)}(?:[\s,<]|$)", shown), shown
    assert words in shown
    for other in {words for *_, words in STATES.values()} - {words, ""}:
        assert other not in shown


@pytest.mark.parametrize("state", STATES)
def test_a_state_of_the_page_has_a_pattern_of_its_own(state: str) -> None:
    value, known, _, words = STATES[state]
    style = render_report(make_report(small_net()))
    name = (words or "complete").replace(" ", "-")

    assert f'class="state {name}"' in page_card(with_total(value, known))
    filled = {"complete": "var(--stroke)", "measured-zero": "var(--stroke)"}.get(name, "repeating-linear-gradient")
    if name != "unavailable":  # an empty dashed square: the default
        assert re.search(rf"\.state\.{name}::before[^}}]*\{{[^}}]*background:{re.escape(filled)}", style)


def test_the_map_hatches_bounds_and_lists_what_has_no_width() -> None:
    html, drawn = (render_report(make_report(small_net(formula=False)), format=kind) for kind in ("html", "svg"))  # type: ignore[arg-type]

    assert re.search(r'class="t [^"]*part', html)
    assert "hatched: lower bound" in html
    assert "url(#hatch)" in drawn
    assert re.search(r"unavailable|measured zero", drawn)


def wider(width: int, *, extra: bool = False) -> AnalysisReport:
    children = [linear("stem", 8, 8), linear("fc", 8, width)]
    return make_report(Node("net", "Net", children=(*children, *([linear("new_head", 8, 4)] if extra else []))))


def test_new_and_removed_modules_are_named_dashed_and_outlined() -> None:
    small, large = wider(4), wider(4, extra=True)
    for report, before, word, look, legend in (
        (large, small, "new", "new", "dashed: new"),
        (small, large, "removed", "gone", "outlined: removed"),
    ):
        html = render_report(report, before=before)
        looks = [each.attributes["class"] or "" for each in elements(html) if "data-v" in each.attributes]

        assert any(look in found.split() for found in looks)
        assert legend in html
        assert f">{word}</i>" in re.sub(r"\s+", " ", html.partition("new_head</b>")[2])[:2000]


def test_what_is_not_comparable_says_why_and_shows_both_sides() -> None:
    before, after = wider(4), wider(6)
    after["context"]["torch_version"] = "2.14.0"

    html = render_report(after, before=before)

    assert "Not comparable." in html
    assert "torch 2.13.0 → 2.14.0" in html
    card = html.partition("Module FLOPs</h3>")[2].partition("</li>")[0]
    assert "change withheld: the two sides ran differently" in card
    assert "%" not in card


def test_a_failed_output_check_withholds_changes_in_words() -> None:
    one, other = make_measured(TIMES), make_measured([2 * seconds for seconds in TIMES])

    html = render_report(compare_benchmarks(one, other, check=lambda: False))

    assert "every change is withheld" in html
    assert "outputs differ, change withheld" in html


def test_a_workload_says_of_each_pass_whether_it_was_made() -> None:
    html = render_report(make_measured(TIMES))

    for label in ("Timing", "Operator FLOPs", "Memory", "RSS", "Profiler"):
        assert re.search(rf'class="state [\w-]+">[\w ]+</span>\s*{label}', html), label
