"""The model map in a real browser: offline, silent, usable by keyboard, without script, narrow, and in both themes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.browser import Visit
from support.reports import Node, decoder, linear, make_report

from torchscan.render.document import render_report

pytestmark = pytest.mark.browser

MODEL = make_report(decoder(6, 64))
PARTIAL = make_report(decoder(6, 64, formula=False))
PAGES = {
    "single": render_report(MODEL),
    "partial": render_report(PARTIAL),
    "changed": render_report(make_report(decoder(6, 64, wide=[3])), before=MODEL),
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
    seen.assert_quiet()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_never_scrolls_sideways(visit: Open, name: str) -> None:
    page = visit(PAGES[name]).page

    for width in (320, 360, 719, 720, 900, 1100):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_opening_and_using_the_page_asks_for_nothing(visit: Open) -> None:
    seen = visit(PAGES["changed"])

    seen.page.fill("#filter", "mlp")
    seen.page.click("text=Expand all")
    seen.page.check("input[value=parameters]")
    seen.page.locator(".view:visible .t").nth(3).click()

    seen.assert_quiet()


def test_a_foreign_script_is_refused(visit: Open) -> None:
    seen = visit(PAGES["single"].replace("</main>", "</main><script>document.title = 'owned'</script>"))

    assert seen.page.title() != "owned"
    assert any("Content Security Policy" in complaint for complaint in seen.complaints)


def test_without_script_maps_switch_and_sections_open(visit: Open) -> None:
    page = visit(PAGES["single"], script=False).page

    page.check("input[value=parameters]")
    page.locator("summary.r", has_text="{0…5}").click()

    assert page.locator("[data-metric=parameters]").is_visible()
    assert not page.locator("[data-metric=module_flops]").is_visible()
    assert page.locator("summary.r", has_text="attn").first.is_visible()
    assert not page.locator("#filter").is_visible()


def test_a_fragment_opens_its_row_without_script(visit: Open) -> None:
    row = MODEL["layers"][-1]["path"]
    html = PAGES["single"]
    page = visit(html, script=False, fragment="#m9").page

    assert row == "head"
    assert page.locator("#m9").is_visible()


def test_filter_counts_and_keeps_the_way_to_each_match(visit: Open) -> None:
    page = visit(PAGES["single"]).page

    page.fill("#filter", "type:gelu")

    assert page.locator(".r:visible", has_text="GELU").count() == 1
    assert page.locator("#live").inner_text().startswith("1 of ")
    assert not page.locator(".r:visible", has_text="Embedding").count()


def test_a_chip_shows_only_what_changed(visit: Open) -> None:
    page = visit(PAGES["changed"]).page

    page.click("button:text-is('Changed')")

    shown = page.locator(".tree .r:visible:not(.head)").all_inner_texts()
    assert all("changed" in text or "not called" in text for text in shown)


def test_a_link_names_a_member_of_a_folded_run(visit: Open) -> None:
    page = visit(PAGES["single"], fragment="#m=blocks.3.attn.qkv").page

    assert page.locator("#inspector h3").inner_text() == "blocks.3.attn.qkv"
    assert page.locator(".chosen").inner_text().startswith("qkv")


def test_the_address_restores_metric_and_filter(visit: Open) -> None:
    page = visit(PAGES["single"], fragment="#metric=macs&q=norm").page

    assert page.locator("[data-metric=macs]").is_visible()
    assert page.input_value("#filter") == "norm"


def test_back_returns_to_the_module_before(visit: Open) -> None:
    page = visit(PAGES["single"]).page
    page.locator("summary.r", has_text="embed").click()
    page.locator("summary.r", has_text="head").last.click()

    page.go_back()

    assert page.locator("#inspector h3").inner_text() == "embed"


def test_the_map_is_one_tab_stop_and_walks_by_arrows(visit: Open) -> None:
    page = visit(PAGES["single"]).page

    assert page.locator(".view:visible .t[tabindex='0']").count() == 1
    page.locator(".view:visible .t[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    assert page.locator("#inspector h3").inner_text() == "blocks"
    page.keyboard.press("Enter")
    assert page.locator(".crumbs button").all_inner_texts() == ["tinylm", "blocks"]
    page.keyboard.press("Escape")
    assert not page.locator(".crumbs").is_visible()


def test_slash_reaches_the_filter_and_brackets_walk_the_changes(visit: Open) -> None:
    page = visit(PAGES["changed"]).page

    page.keyboard.press("]")
    assert page.locator("#inspector h3").inner_text().startswith("blocks.3")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "filter"


def test_sorting_keeps_unknown_last_in_both_directions(visit: Open) -> None:
    page = visit(PAGES["partial"]).page
    page.click("#expand")

    for _ in range(2):
        page.click(".head button:has-text('MACs')")
        children = page.locator(
            "details:has(> summary b:text-is('attn')) > details.leaf > summary > b"
        ).all_inner_texts()
        assert children[-1] == "core"
        assert children[0] in ("out", "qkv")


def test_copy_as_markdown_keeps_the_columns(visit: Open) -> None:
    page = visit(PAGES["changed"]).page
    page.evaluate("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")

    page.locator("button:text-is('Copy as Markdown')").first.click()

    lines = page.evaluate("window.copied").strip().splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert "| Parameters |" in page.evaluate("window.copied")


def test_print_shows_light_colours_and_closed_sections(visit: Open) -> None:
    page = visit(PAGES["changed"], dark=True).page
    closed = page.locator("details:has(> summary:text-matches('^Equal')) table")
    assert not closed.is_visible()

    page.emulate_media(media="print", color_scheme="dark")

    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert closed.bounding_box()["height"] > 50
    assert not page.locator(".tools").is_visible()


@pytest.mark.parametrize("name", ["changed", "partial"])
def test_a_printed_sheet_cuts_no_number_and_keeps_the_columns_names(visit: Open, name: str) -> None:
    page = visit(PAGES[name], width=703).page  # A4 between margins of 12 mm
    page.emulate_media(media="print")

    cells = page.locator(".tree .r:visible > *, .cards p, .totals td")
    cut = cells.evaluate_all("cells => cells.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)")
    assert cut == []
    assert page.locator(".head i:has-text('DMAs')").evaluate("e => e.innerText") == "DMAs"
    assert page.locator(".view:visible .map").is_visible()


def test_evidence_on_demand_shows_shapes_and_every_digit(visit: Open) -> None:
    blocks = [linear(f"layer{at}x", 64, 64 + at, tokens=128) for at in range(1_300)]
    page = visit(render_report(make_report(Node("net", "Net", children=tuple(blocks))))).page
    assert page.locator("#evidence").count() == 1

    page.locator(".r", has_text="layer1x").first.click()

    written = page.locator("#inspector").inner_text()
    assert "(1, 128, 65)" in written
    assert f"{128 * 64 * 65:,}" in written
