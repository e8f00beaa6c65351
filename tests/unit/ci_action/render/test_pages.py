from __future__ import annotations

import gzip
import hashlib
import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.scenes import FACTS, SCENES, counts, latency, rendered, scene
from support.verdicts import config, failure

from ci_action.core.schemas import load_schema
from ci_action.core.verdict import Word
from ci_action.render.rendered import Rendered
from torchscan.render.templates import source

NAMES = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><b>',
    "a\u202eb",
    "javascript:alert(1)",
    "{{ 1 }}",
)
VOID = {"meta", "input", "br", "path"}
OPTIONAL = {"td", "th", "tr"}  # HTML lets their end tags be omitted


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for key, value in attrs:
            self.values.setdefault(key, []).append(value or "")
        if tag not in VOID | OPTIONAL:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID | OPTIONAL:
            assert self._open.pop() == tag


def files_linked(page: Page) -> set[str]:
    return {link for link in page.values["href"] if not link.startswith(("#", "data:", f"{FACTS.run_url}"))}


def hostile() -> Rendered:
    heads = {name: counts(name, operator_flops=9) for name in NAMES} | {
        NAMES[0]: failure("<b>Error", message="<i>x</i>")
    }
    return scene(heads, names=NAMES, base=config(*NAMES)).render()


def test_file_names_are_never_from_target_names() -> None:
    assert set(hostile().pages) == {"index.html", "result.json", *(f"m-{index:03d}.html" for index in range(6))}


def test_hostile_names_add_no_markup() -> None:
    plain, odd = Page(scene(names=("a",)).render().pages["index.html"]), Page(hostile().pages["index.html"])

    assert set(odd.tags) - set(plain.tags) <= {"code", "pre", "button", "small"}  # rows
    assert odd.tags.count("script") == 1
    assert not [key for key in odd.values if key.startswith("on")]
    assert all(
        re.fullmatch(r"#[\w-]+|m-\d{3}\.html|result\.json|data:application/gzip;base64,[\w+/=]+", link)
        for link in odd.values["href"]
    )


@pytest.mark.parametrize("name", SCENES)
def test_index_is_sound(name: str) -> None:
    html = rendered(name).pages["index.html"]
    page = Page(html)
    ids = page.values["id"]

    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in page.values["href"] if link.startswith("#")} <= set(ids)
    assert files_linked(page) <= set(rendered(name).pages)
    assert page.tags.count("h1") == 1
    own = f'<a href="{FACTS.run_url}" rel="noreferrer">' if SCENES[name]().facts.is_foreign else "http-equiv"
    assert "http" not in html.replace("http-equiv", "").replace(own, "")
    assert not re.search(
        r"\bNone\b|\bnan\b|\bundefined\b", re.sub(r"<(script|style)>.*?</\1>", "", html, flags=re.DOTALL)
    )


def published(**facts: Any) -> tuple[Rendered, Page]:
    """What a run draws that has only the numbers of another one: the same calls, a model that grew."""
    made = SCENES["one_regression"]()
    drawn = replace(made, facts=replace(FACTS, is_split=True, **facts)).render()
    return drawn, Page(drawn.pages["index.html"])


def test_a_report_of_numbers_alone_links_no_page_that_it_lacks() -> None:
    made, page = published()
    assert not [name for name in made.pages if name.startswith("m-")]
    assert files_linked(page) <= set(made.pages)


def test_it_says_where_the_models_pages_are_and_whose_word_they_are() -> None:
    made, page = published(full_reports=("torchscan",))
    assert "The pages of the models are in the artifact <code>torchscan</code> of" in made.pages["index.html"]
    assert "Nobody has checked them" in made.pages["index.html"]
    assert FACTS.run_url in page.values["href"]


def test_it_says_that_there_are_none() -> None:
    made, page = published()
    assert "kept no report of its own" in made.pages["index.html"]
    assert FACTS.run_url in page.values["href"]


def test_it_shows_the_calls_that_changed_since_no_other_page_does() -> None:
    made, _ = published()
    calls = made.pages["index.html"].partition('<table id="causes">')[2].partition("</table>")[0]
    assert re.findall(r'<tr><th scope="row">([^<]+)</th>', calls)
    assert '<table id="causes">' not in rendered("one_regression").pages["index.html"]


def test_policy_allows_exactly_our_script() -> None:
    html = hostile().pages["index.html"]
    script = re.search(r"<script>(.*)</script>", html, re.DOTALL)
    assert script is not None
    digest = b64encode(hashlib.sha256(script[1].encode()).digest()).decode()

    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in html


def test_each_target_links_to_its_page_and_each_file_is_listed() -> None:
    made = rendered("one_regression")
    page = Page(made.pages["index.html"])

    links = {link for link in page.values["href"] if not link.startswith(("#", "data:"))}
    assert links == set(made.pages) - {"index.html"}
    for name, text in made.pages.items():
        if name != "index.html":
            assert hashlib.sha256(text.encode()).hexdigest() in made.pages["index.html"]


def test_gravest_targets_come_first() -> None:
    html = rendered("forty_targets").pages["index.html"]
    states = re.findall(r'<tr[^>]* data-state="([\w-]+)"', html)

    assert states == ["regression", "regression", "inconclusive", "improvement", *["equal"] * 36]


def test_unchanged_targets_are_hidden_only_where_there_are_many() -> None:
    assert "hide-equal" in rendered("passing").pages["index.html"]
    assert 'id="hide-equal" checked' in rendered("forty_targets").pages["index.html"]
    assert 'id="hide-equal" checked' not in rendered("passing").pages["index.html"]


def test_a_failed_side_still_has_the_other_sides_page() -> None:
    assert "(base only)" in scene({"vit_b_16": failure()}).render().pages["m-001.html"]


@pytest.mark.parametrize("name", SCENES)
def test_verdict_document_fits_its_schema(name: str) -> None:
    document = json.loads(rendered(name).pages["result.json"])

    Draft202012Validator(load_schema("verdict")).validate(document)


def test_document_withholds_what_the_comment_withholds() -> None:
    document = json.loads(rendered("partial_evidence").pages["result.json"])
    rows = {row["metric"]: row for target in document["targets"] for row in target["rows"] if target["id"] == "tiny_lm"}

    assert rows["operator_flops"]["delta"] is None
    assert rows["operator_flops"]["head"]["value"] is None
    assert rows["parameters"]["delta"] == 0


def test_colours_are_those_of_the_library() -> None:
    def tokens(sheet: str) -> list[tuple[str, str]]:
        shared = ("bg", "panel", "fg", "muted", "stroke", "link", "worse", "better")
        return [pair for pair in re.findall(r"--([a-z]+):\s*(#[0-9a-f]{6})", sheet) if pair[0] in shared]

    assert sorted(tokens(source("ci_action", "index.css"))) == sorted(tokens(source("torchscan", "report.css")))


def test_index_stays_small() -> None:
    assert len(rendered("forty_targets").pages["index.html"].encode()) < 200 * 1024


def test_rendering_is_deterministic() -> None:
    one, other = (SCENES["forty_targets"]().render() for _ in range(2))

    assert one == other


@pytest.mark.parametrize("scene_name", SCENES)
def test_the_rows_as_markdown_are_the_comments_own_bytes(scene_name: str) -> None:
    made = rendered(scene_name)
    held = re.search(r'<pre id="markdown"[^>]*>(.*?)</pre>', made.pages["index.html"], re.DOTALL)
    tables = re.findall(r"^(\| Result \| Target \| Metric .*\n\|-.*\n)((?:\|.*\n)+)", made.comment, re.MULTILINE)

    if held is None:
        assert tables == []
        return
    heads, rows = zip(*tables, strict=True)
    assert set(heads) == {heads[0]}
    assert unescape(held[1]) == heads[0] + "".join(rows)  # also what the comment folds into a second table


def test_a_page_of_a_model_leads_back_to_the_index() -> None:
    pages = rendered("one_regression").pages
    models = [text for file, text in pages.items() if file.startswith("m-")]

    assert models
    for text in models:
        assert text.count('<a href="index.html">All targets</a>') == 1
        assert text.index("<header>") < text.index("All targets") < text.index("<h1>")


def test_the_page_carries_the_verdict_so_that_it_works_alone() -> None:
    made = rendered("one_regression").pages
    address = re.search(r'href="data:application/gzip;base64,([^"]+)"', made["index.html"])
    assert address is not None

    assert gzip.decompress(b64decode(address[1])).decode() == made["result.json"]


def test_an_index_of_400_timed_targets_of_which_a_quarter_changed_stays_under_200_kib() -> None:
    names = tuple(f"zoo_model_with_a_long_name_{index:03d}" for index in range(400))
    heads = {name: counts(name, operator_flops=9_000_000_000 + at) for at, name in enumerate(names) if at % 4 == 0}
    made = scene(heads, names=names)
    rows = tuple(latency(name, 0.0124, 0.0125, -0.012, 0.012, Word.WITHIN_NOISE) for name in names)
    verdict = replace(
        made.verdict,
        targets=tuple(replace(one, rows=(*one.rows, row)) for one, row in zip(made.verdict.targets, rows, strict=True)),
    )
    pages = replace(made, verdict=verdict).render().pages
    index = pages["index.html"]

    assert index.count("<tr data-state=") + index.count("<tr id=") == 400
    assert len(index.encode()) <= 200 * 1024
    sums = dict(reversed(line.split("  ")) for line in pages["SHA256SUMS"].splitlines())
    assert sums == {
        name: hashlib.sha256(text.encode()).hexdigest()
        for name, text in pages.items()
        if name not in ("index.html", "SHA256SUMS")
    }
    assert '<a href="SHA256SUMS">' in index
