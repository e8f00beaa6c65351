"""The index page in a real Chromium: offline, quiet, usable without JavaScript and on a narrow screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.scenes import rendered

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("report")
    for name, text in rendered("forty_targets").pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return (folder / "index.html").as_uri()


def open_page(chromium: Any, url: str, **options: Any) -> Any:
    page = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}).new_page()
    page.seen: Any = {"requests": [], "errors": []}
    page.on("request", lambda request: page.seen["requests"].append(request.url))
    page.on("console", lambda message: page.seen["errors"].append(message.text))
    page.on("pageerror", lambda error: page.seen["errors"].append(str(error)))
    page.goto(url)
    return page


def shown(page: Any) -> list[str]:
    names: list[str] = page.eval_on_selector_all(
        "#targets tbody tr", "rows => rows.filter(r => r.offsetHeight).map(r => r.cells[1].firstChild.textContent)"
    )
    return names


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360, 320])
def test_one_request_no_error_no_sideways_scroll(chromium: Any, index: str, scheme: str, width: int) -> None:
    page = open_page(chromium, index, color_scheme=scheme, viewport={"width": width, "height": 800})

    assert page.seen == {"requests": [index], "errors": []}
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_many_targets_open_without_the_unchanged_ones(chromium: Any, index: str) -> None:
    page = open_page(chromium, index)

    assert shown(page) == ["swin_t", "convnext_s", "unet_small", "vit_b_16"]
    page.uncheck("#hide-equal")
    assert len(shown(page)) == 40
    assert page.text_content("#live") == "40 of 40 targets shown"


def test_a_count_filters_and_the_address_remembers_it(chromium: Any, index: str) -> None:
    page = open_page(chromium, index)
    page.click(".counts a[data-state=equal]")

    assert len(shown(page)) == 36
    assert page.url.endswith("#state=equal")
    assert len(shown(open_page(chromium, page.url))) == 36
    page.click(".counts a[data-state=equal]")
    assert len(shown(page)) == 4


def test_search_by_keyboard(chromium: Any, index: str) -> None:
    page = open_page(chromium, index)
    page.keyboard.press("/")
    page.keyboard.type("UNET")

    assert shown(page) == ["unet_small"]
    page.keyboard.press("Escape")
    assert len(shown(page)) == 4


def test_sorting_keeps_the_unknown_last(chromium: Any, index: str) -> None:
    page = open_page(chromium, index)
    head = page.locator("#targets thead th", has_text="latency")
    for order in ("descending", "ascending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        assert shown(page)[0] == "unet_small"


def test_everything_is_there_without_javascript(chromium: Any, index: str) -> None:
    page = open_page(chromium, index, java_script_enabled=False)

    assert page.locator("#targets tbody tr").count() == 40
    assert page.locator("#targets tbody tr").last.is_visible()
    assert not page.locator("#controls").is_visible()
    assert page.seen["requests"] == [index]


def test_paper_is_white_and_shows_the_folded_words(chromium: Any, index: str) -> None:
    page = open_page(chromium, index, color_scheme="dark")
    page.emulate_media(media="print")

    assert page.locator("details p").first.bounding_box()["height"] > 0
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("benchmark")
    for name, text in rendered("benchmarked").pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return (folder / "b-000.html").as_uri()


@pytest.mark.parametrize("script", [True, False])
def test_the_rows_are_readable_as_markdown_and_copied_with_script(
    chromium: Any, benchmark: str, *, script: bool
) -> None:
    url = benchmark.replace("b-000", "index")
    page = open_page(chromium, url, java_script_enabled=script, permissions=["clipboard-read", "clipboard-write"])
    page.click(".markdown summary")
    held = page.locator("#markdown").inner_text()

    assert held.startswith("| Result | Target |")
    assert page.locator("#copy").is_visible() is script
    if script:
        page.click("#copy")
        page.wait_for_function("document.getElementById('live').textContent === 'Copied'")
        assert page.evaluate("navigator.clipboard.readText()").strip() == held.strip()


@pytest.mark.parametrize(
    ("column", "expected"), [("latency", "resnet50"), ("Target", "vit_b_16"), ("Result", "tiny_lm")]
)
def test_columns_sort_by_exact_numbers_and_say_so(chromium: Any, benchmark: str, column: str, expected: str) -> None:
    page = open_page(chromium, benchmark.replace("b-000", "index"))
    head = page.locator("#targets thead th", has_text=column).first

    head.locator("button").click()

    assert head.get_attribute("aria-sort") == "descending"
    assert shown(page)[0] == expected
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown(page)[-1] == expected


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (320, "light")])
@pytest.mark.parametrize("name", ["index", "b-000", "b-001"])
def test_axe_finds_nothing_on_pages_with_timings(
    chromium: Any, axe: str, benchmark: str, name: str, width: int, scheme: str
) -> None:
    page = open_page(
        chromium,
        benchmark.replace("b-000", name),
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
        bypass_csp=True,  # axe is injected by the test
    )
    page.evaluate(axe)

    found = page.evaluate(
        "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
    )

    assert [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.seen["errors"] == []
