"""One run with a hostile text in every place that somebody else writes, against the same run with a tame one [S7]."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from support.reports import Node, linear, make_report
from support.scenes import FACTS, PULL, Scene
from support.verdicts import COMMITS, HEAD_SHA, config, failure, limit, number, report, result, target

from ci_action.core.comparing import compare
from ci_action.core.judging import judge
from ci_action.core.planning import make_plan
from ci_action.core.verdict import Acceptance, Row, Word
from torchscan.report.metric import complete

WORDS = (
    *("a|b", "`", "``", "\\|", "<img src=//x>", "</details>", "</code>", "-->", "<!-- torchscan-action:1 -->", "&lt;"),
    *(
        "[x](javascript:alert(1))",
        "![x](//e/x.png)",
        "@org/team",
        "#1",
        "GH-1",
        "octo/zoo#1",
        "a" * 40,
        "https://e.example",
    ),
    *(
        "www.e.example",
        "x\u202ey",
        "x\u2066y",
        "a\u200db",
        "\0",
        "x\n## H",
        "x\r\n\r\n| a | b |\n|---|---|",
        "$x$",
        "~~x~~",
    ),
    *(
        "**x**",
        "\ud800",
        "\ufeff",
        "{{ 7*7 }}",
        "${{ github.token }}",
        "::error::x",
        "##[error]x",
        "名前",
        "é\u0301",
        "😀",
    ),
    *(
        "```",
        "- [ ] x",
        "[^1]: x",
        "> [!WARNING]",
        "x" * 5_000,
        "\\",
        "\t",
        "\u2028",
        "constructor",
        "__proto__",
        "'",
        '"',
    ),
    *(
        "<script>alert(1)</script>",
        "]]>",
        "%0A::error::x",
        "<details open>",
        "javascript:x",
        "data:text/html,x",
        "\x1b[31m",
    ),
)
HOSTILE = [*WORDS, *(f"{one}{other}" for one, other in zip(WORDS, WORDS[7:] + WORDS[:7], strict=True))]


def run(word: str) -> Scene:
    """A run whose every foreign text holds ``word``; the ids stay distinct."""
    ids = [f"{word}{letter}" for letter in "abcd"]

    def network(width: int) -> Any:
        made = make_report(Node("net", "Net", children=(linear("fc", 8, width),)))
        layers = [{**layer, "path": word if layer["path"] else ""} for layer in made["layers"]]
        return {**made, "layers": layers}

    lost = report(operator_macs=number("operator_macs", 5, bound=True))
    lost["diagnostics"] = [
        {
            "code": "uncounted_operator",
            "severity": "warning",
            "metric": "operator_macs",
            "message": word,
            "operator": word,
        }
    ]
    odd = report()
    odd["context"]["torch_version"] = word
    broken = failure(word, message=word, frames=[word], stage=word)
    limits = (limit(max_increase=0.05, text="+5%"), limit("operator_macs", max_increase=0.05, text="+5%"))
    base = replace(config(*(target(one) for one in ids), limits=limits, accept_label=word), source=word)
    commits = replace(COMMITS, base_ref=word, base_reason=word)
    plan = make_plan(commits, base_config=base, head_config=replace(base, accept_label="x"), pull_request=PULL)
    bases = [
        result("base", one, name) for one, name in zip((network(8), report(), report(), report()), ids, strict=True)
    ]
    heads = [result("head", one, name) for one, name in zip((network(16), lost, odd, broken), ids, strict=True)]
    unit = f"{word}/s"
    sides = [complete(value, unit=unit, scope=word, method=word) for value in (10, 9)]
    timed = Row(target=ids[1], metric="throughput", base=sides[0], head=sides[1], word=Word.CHANGED)
    noisy = replace(timed, metric="latency", word=Word.INCONCLUSIVE, reason=word)
    compared = compare(plan, bases, heads)
    verdicts = [replace(one, rows=(*one.rows, timed, noisy)) if one.id == ids[1] else one for one in compared]
    who = Acceptance(label=word, actor=word, head_sha=HEAD_SHA)
    verdict = judge(plan, verdicts, accepted=who)
    noted = replace(verdict, notes=(*verdict.notes, word))
    facts = replace(FACTS, platform=word, reproduction=word)
    return Scene(plan=plan, verdict=noted, results=[*bases, *heads], facts=facts)


class Skeleton(HTMLParser):
    """The tags of a document, and its text outside of code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loose: list[str] = []
        self.links: list[str] = []
        self._code = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._code += tag in {"code", "pre", "script", "style"}
        self.links += [value or "" for key, value in attrs if key in {"href", "src"}]

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in {"code", "pre", "script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.loose.append(data)


def gfm(markdown: str) -> Skeleton:
    extensions = ["table", "autolink", "strikethrough", "tasklist"]
    return Skeleton(cmarkgfm.markdown_to_html_with_extensions(markdown, Options.CMARK_OPT_UNSAFE, extensions))


# `code` may come and go: a plain word stands as prose where a hostile one stands as code.
def shape(skeleton: Skeleton) -> list[str]:
    return [tag for tag in skeleton.tags if tag != "code"]


CARRIED = "data:application/gzip;base64,"
TAME = run("tame").render()
TAME_COMMENT = gfm(TAME.comment)
TAME_PAGE = Skeleton(TAME.pages["index.html"])


def test_the_tame_run_reaches_every_place() -> None:
    assert TAME.comment.count("tame") > 20
    assert {"table", "details", "pre", "sub", "blockquote"} <= set(TAME_COMMENT.tags)
    for words in (
        "Accepted for head",
        "Uncounted on head",
        "Where it comes from",
        "Next steps",
        "Last lines",
        "not comparable",
    ):
        assert words in TAME.comment


@pytest.mark.parametrize("word", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_changes_no_structure(word: str) -> None:
    made = run(word).render()
    comment, page = gfm(made.comment), Skeleton(made.pages["index.html"])

    assert shape(comment) == shape(TAME_COMMENT)
    assert comment.links == TAME_COMMENT.links
    assert shape(page) == shape(TAME_PAGE)
    assert {link for link in page.links if not link.startswith(CARRIED)} == {
        link for link in TAME_PAGE.links if not link.startswith(CARRIED)
    }
    assert not re.search(r"@org|(?<!\w)#1|GH-1|\$", " ".join(comment.loose))
    assert made.comment.count("torchscan-action:") == 1
    assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]*", made.terminal)
    assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f\u2028-\u202e\u2066-\u2069\ud800-\udfff]*", made.comment)
    made.pages["result.json"].encode("ascii")
