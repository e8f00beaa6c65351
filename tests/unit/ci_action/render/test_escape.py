from __future__ import annotations

import re
from html import unescape

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from ci_action.render.escape import block, cell, code, name, prose, scrub, shorten, summary_code, visible

HOSTILE = (
    "a|b",
    "`",
    "``x`",
    "`a`|`b`",
    "\\|",
    "\\`",
    "<img src=//x>",
    "</details>",
    "</code></summary>",
    "-->",
    "<!-- torchscan-action:1 wf=0 -->",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "@org/team",
    "#1",
    "GH-1",
    "a" * 40,
    "https://evil.example/",
    "www.evil.example",
    "x\u202ey",
    "a\u200db",
    "nul\0byte",
    "x\n## H",
    "x\r\n| a | b |",
    "$\\color{red}x$",
    "~~x~~",
    "*x* _y_ __z__",
    "\ud800",
    "\ufeff",
    "&lt;b&gt; &amp; &#64;x",
    "{{ 7*7 }} {% raw %}",
    "${{ github.token }}",
    "::error::x",
    "名前",
    "😀" * 40,
    "",
    " ",
    "```\n```",
    "- [ ] task",
    "[^1]: note",
)
EXTENSIONS = ["table", "autolink", "strikethrough", "tasklist"]


def gfm(markdown: str) -> str:
    html: str = cmarkgfm.markdown_to_html_with_extensions(markdown, Options.CMARK_OPT_UNSAFE, EXTENSIONS)
    return html


def tags(html: str) -> list[str]:
    return re.findall(r"<([a-z][a-z0-9]*)", html)


@pytest.mark.parametrize("text", HOSTILE)
def test_code_span_holds_the_text_and_nothing_else(text: str) -> None:
    html = gfm(f"before {code(text)} after")

    assert tags(html) == ["p", "code"]
    content = re.search(r"<code>(.*)</code>", html, re.DOTALL)
    assert content is not None
    assert unescape(content[1]).strip() == name(text).replace("torchscan-action:", "torchscan-action\\u{3a}").strip()


@pytest.mark.parametrize("text", HOSTILE)
def test_table_keeps_its_shape(text: str) -> None:
    html = gfm(f"| a | b |\n|---|---|\n| {cell(text)} | {cell(text)} |\n| x | y |\n")

    assert tags(html).count("tr") == 3
    assert tags(html).count("td") == 4
    assert tags(html).count("code") == 2
    assert not {"a", "img", "h2", "input", "del", "em", "strong"} & set(tags(html))


@pytest.mark.parametrize("text", HOSTILE)
def test_summary_keeps_its_shape(text: str) -> None:
    html = gfm(f"<details>\n<summary>of {summary_code(text)}</summary>\n\nbody\n\n</details>\n")

    assert tags(html) == ["details", "summary", "code", "p"]


@pytest.mark.parametrize("text", HOSTILE)
def test_fence_cannot_be_closed(text: str) -> None:
    html = gfm(block([text, "````", text]))

    assert tags(html) == ["pre", "code"]


@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_sentence_becomes_code(text: str) -> None:
    html = gfm(f"Note: {prose(text)}")

    assert set(tags(html)) <= {"p", "code"}
    assert not re.search(r"(?<!>)@org", html)


@pytest.mark.parametrize("text", HOSTILE)
def test_our_marker_cannot_be_written_by_others(text: str) -> None:
    written = [code(text), cell(text), summary_code(text), block([text]), prose(text)]

    assert not any("torchscan-action:" in one for one in written)


def test_our_own_sentences_stay_sentences() -> None:
    text = "limits: changed in this pull request; takes effect after the merge."

    assert prose(text) == text


@given(st.text(max_size=200))
def test_any_text_is_inert_in_a_table(text: str) -> None:
    html = gfm(f"| a | b |\n|---|---|\n| {cell(text)} | x |\n")

    assert tags(html).count("td") == 2
    assert set(tags(html)) == {"table", "thead", "tbody", "tr", "th", "td", "code"}


@given(st.text(max_size=200))
def test_any_text_is_visible_and_short(text: str) -> None:
    shown = name(text)

    assert shown.isprintable()
    assert 0 < len(shown) <= 60
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u0000-\u001f]", shown)


@given(st.text(max_size=300), st.text(max_size=300))
def test_shortened_texts_stay_two(one: str, other: str) -> None:
    assert (shorten(one) == shorten(other)) == (one == other)


def test_log_lines_lose_the_folders_of_their_paths() -> None:
    assert "/home/runner" not in block(['File "/home/runner/work/zoo/models/vit.py", line 88, in forward'])


def test_hidden_signs_are_spelled_out() -> None:
    assert visible("a\u202eb\0") == "a\\u{202e}b\\u{0}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/home/runner/work/zoo/zoo/models/vit.py: no", "…/vit.py: no"),
        ('File "/tmp/secret/x.py"', 'File "…/x.py"'),
        ("C:\\Users\\me\\x.py", "…/x.py"),
        ("models/vit.py", "models/vit.py"),
        ("a/b and 1/2", "a/b and 1/2"),
        ("https://example.org/a/b/c", "https://example.org/a/b/c"),
    ],
)
def test_folders_of_absolute_paths_are_dropped(text: str, kept: str) -> None:
    assert scrub(text) == kept
