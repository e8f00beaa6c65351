"""The comment and the terminal text of each state, kept as files. TORCHSCAN_UPDATE_GOLDEN=1 rewrites them.

A golden freezes what somebody read once; the invariants below hold for what nobody reads.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from support import scenes
from support.scenes import CRASH, FACTS, SCENES, scene

from ci_action.core.marker import parse_marker
from ci_action.render.rendered import Rendered

FOLDER = Path(__file__).parent
EXTENSIONS = ["table", "autolink", "strikethrough", "tagfilter", "tasklist"]


@pytest.fixture(scope="module")
def rendered() -> dict[str, Rendered]:
    return {name: scenes.rendered(name) for name in SCENES}


def html_of(markdown: str) -> str:
    html: str = cmarkgfm.markdown_to_html_with_extensions(markdown, Options.CMARK_OPT_UNSAFE, EXTENSIONS)
    return html


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("kind", ["comment", "terminal"])
def test_text_is_as_it_was_read(name: str, kind: str, rendered: dict[str, Rendered]) -> None:
    suffix = {"comment": ".md", "terminal": ".txt"}[kind]
    path, text = FOLDER / f"{name}{suffix}", getattr(rendered[name], kind)
    if os.environ.get("TORCHSCAN_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")

    assert text == path.read_text(encoding="utf-8")


def test_no_golden_is_left_behind() -> None:
    kept = {path.stem for path in FOLDER.iterdir() if path.suffix in {".md", ".txt"}}

    assert kept == set(SCENES)


class Shape(HTMLParser):
    """What the Markdown became: tags, rows of each table, text outside of code."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.tables: list[list[int]] = []
        self.text: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in {"br", "hr"}:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append(0)
        elif tag in {"td", "th"}:
            self.tables[-1][-1] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"{tag} is not balanced"

    def handle_data(self, data: str) -> None:
        if not {"code", "pre"} & set(self._open):
            self.text.append(data)

    def check_closed(self) -> None:
        assert self._open == []


def shape_of(markdown: str) -> Shape:
    shape = Shape()
    shape.feed(html_of(markdown))
    shape.check_closed()
    return shape


@pytest.mark.parametrize("name", SCENES)
def test_markdown_becomes_whole_tables_and_folds(name: str, rendered: dict[str, Rendered]) -> None:
    shape = shape_of(rendered[name].comment)

    assert all(len(set(rows)) == 1 for rows in shape.tables)
    assert shape.tags.count("h3") == 1
    assert not {"h1", "h2", "h4", "img", "script", "input"} & set(shape.tags)
    assert shape.tags.count("details") == shape.tags.count("summary")


@pytest.mark.parametrize("name", SCENES)
def test_first_lines_are_marker_and_verdict(name: str, rendered: dict[str, Rendered]) -> None:
    marker, verdict, blank, gate = rendered[name].comment.split("\n")[:4]

    assert parse_marker(marker) is not None
    assert re.match(r"### \S+ [A-Z][^:;]+[:;] ?|### \S+ [A-Z]\w+ in \d+ of \d+ targets", verdict)
    assert len(verdict.removeprefix("### ")) <= 96 + len(" (measured in a fork run)")
    assert "](" not in verdict
    assert blank == ""
    assert "Gate **" in gate


# reports.md 3.3: what must never appear, as far as a pattern can say it
NEVER = {
    "not a number": r"\bNaN\b|\binf\b|∞|\bNone\b",
    "percent of a bound": r"≥[^|\n]*\|[^|\n]*%\)",
    "decimal bytes and wrong units": r"\bMb\b|GFLOPS|FLOPs/s",
    "diff blocks": r"```diff",
    "images and diagrams": r"!\[|```mermaid|<img",
    "live mentions": r"(?<![\w`])@\w",
    "issue references": r"(?<![\w&`/])#\d|\bGH-\d",
    "math": r"\$",
    "absolute paths": r"(?<![\w/:])/(?:home|tmp|root|Users)/",
    "speed from counts": r"faster|slower|significant|same speed",
    "praise and adverts": r"(?i)\bgreat\b|\bthanks\b|\blove\b|congrat",
}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("rule", NEVER)
def test_never_appears(name: str, rule: str, rendered: dict[str, Rendered]) -> None:
    marker, _, body = rendered[name].comment.partition("\n")

    assert marker.startswith("<!--")
    assert not re.findall(NEVER[rule], body)
    assert not re.findall(NEVER[rule], rendered[name].terminal)


@pytest.mark.parametrize("name", SCENES)
def test_at_most_one_alert_and_only_at_top_level(name: str, rendered: dict[str, Rendered]) -> None:
    alerts = [match.start() for match in re.finditer(r"^> \[!", rendered[name].comment, re.MULTILINE)]
    first_fold = rendered[name].comment.find("<details")

    assert len(alerts) <= 1
    assert all(first_fold < 0 or place < first_fold for place in alerts)


@pytest.mark.parametrize("name", SCENES)
def test_no_change_is_said_only_of_what_was_measured(name: str) -> None:
    scene, comment = SCENES[name](), scenes.rendered(name).comment
    bad = [target for target in scene.verdict.targets if target.failure("head")]

    if bad or not any(target.is_measured for target in scene.verdict.targets):
        assert "### ✅" not in comment
    if scene.verdict.exit_code:
        assert "Gate **passed**" not in comment


@pytest.mark.parametrize("name", SCENES)
def test_sides_that_differ_never_print_alike(name: str, rendered: dict[str, Rendered]) -> None:
    rows = re.findall(r"\| ([^|→]+) → ([^|]+) \| ([^|]+) \|", rendered[name].comment)

    for base, head, change in rows:
        assert base.strip() != head.strip() or change.strip() in {"0", "n/a"}


@pytest.mark.parametrize("name", SCENES)
def test_terminal_ends_with_the_comments_verdict(name: str, rendered: dict[str, Rendered]) -> None:
    last = rendered[name].terminal.rstrip("\n").split("\n")[-1]
    verdict = rendered[name].comment.split("\n")[1].removeprefix("### ").split(" ", 1)[1].replace("`", "")

    assert last.startswith(f"{verdict}. Gate ")
    assert re.search(r", exit [0-9]+\.$", last)
    assert rendered[name].headline == verdict


@pytest.mark.parametrize("name", SCENES)
def test_summary_is_the_comment_without_its_marker(name: str, rendered: dict[str, Rendered]) -> None:
    assert rendered[name].comment.split("\n", 1)[1] == rendered[name].summary


@pytest.mark.parametrize("name", SCENES)
def test_body_is_small(name: str, rendered: dict[str, Rendered]) -> None:
    assert len(rendered[name].comment.encode()) <= 8_000


def test_accept_label_is_advertised_only_where_it_works(rendered: dict[str, Rendered]) -> None:
    mentioned = {name for name in SCENES if "ask a maintainer to add the label" in rendered[name].comment}

    assert mentioned == {name for name in SCENES if SCENES[name]().verdict.exit_code == 1 and _has_label(name)}
    assert mentioned == {"one_regression"}


def _has_label(name: str) -> bool:
    config = SCENES[name]().plan.base_config
    return config is not None and config.accept_label is not None


def test_fork_runs_show_classes_of_exceptions_and_no_words_of_theirs() -> None:
    made = scene({"vit_b_16": CRASH}, facts=replace(FACTS, fork="octo-user/zoo")).render()
    everything = [made.comment, made.summary, made.terminal, *made.pages.values()]

    assert "came from the fork `octo-user/zoo`" in made.comment
    assert "`RuntimeError`" in made.comment
    assert not any("shapes cannot be multiplied" in text or "models/vit.py" in text for text in everything)
