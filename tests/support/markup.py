"""A strict look at an HTML page with the standard library: structure, references and policy."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    inside: tuple[str, ...] = ()


@dataclass
class _Reader(HTMLParser):
    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), inside=tuple(each.tag for each in self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), inside=tuple(each.tag for each in self.open)))

    def handle_endtag(self, tag: str) -> None:
        while self.open and any(each.tag == tag for each in self.open):
            if self.open.pop().tag == tag:
                return

    def handle_data(self, data: str) -> None:
        for element in self.open[-1:]:
            element.text += data


def elements(html: str) -> list[Element]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.elements


def check_structure(html: str) -> list[Element]:
    """Assert what every page must hold: unique ids, resolving links, one script policy, nothing from outside."""
    found = elements(html)
    ids = [each.attributes["id"] for each in found if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    links = [each.attributes["href"] or "" for each in found if each.attributes.get("href")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not [each for each in found if "src" in each.attributes or each.tag in ("link", "iframe", "object", "embed")]
    assert not [name for each in found for name in each.attributes if name.startswith("on")]
    assert not re.search(r"https?:", html)
    _check_policy(found)
    _check_headings(found)
    _check_tables(found)
    return found


def _check_policy(found: list[Element]) -> None:
    (policy,) = [each for each in found if each.attributes.get("http-equiv") == "Content-Security-Policy"]
    scripts = [each for each in found if each.tag == "script"]
    code = [each for each in scripts if "type" not in each.attributes]
    assert len(code) == 1
    digest = base64.b64encode(hashlib.sha256(code[0].text.encode()).digest()).decode()
    content = policy.attributes["content"] or ""
    assert f"script-src 'sha256-{digest}'" in content
    assert "default-src 'none'" in content
    assert {each.attributes.get("type") for each in scripts} <= {None, "application/json"}


def _check_headings(found: list[Element]) -> None:
    levels = [int(each.tag[1]) for each in found if re.fullmatch(r"h[1-6]", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def _check_tables(found: list[Element]) -> None:
    assert all("scope" in each.attributes for each in found if each.tag == "th")
    named = [each for each in found if each.tag == "svg" and each.attributes.get("aria-hidden") != "true"]
    titles = [each for each in found if each.tag == "title" and "svg" in each.inside]
    assert len(titles) >= len(named)
