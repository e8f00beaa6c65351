"""The two ways in which a sentence is written: for GitHub's Markdown, and as plain text for terminal and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ci_action.render.escape import code, name, prose, scrub, visible


class Quote(Protocol):
    """Sets somebody else's words, or a literal of the config, apart from ours."""

    def __call__(self, text: str, *, length: int = ...) -> str: ...


class Pass(Protocol):
    """Gives a whole sentence, which may hold somebody else's words."""

    def __call__(self, text: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Medium:
    """How names and foreign sentences are written."""

    quote: Quote
    prose: Pass


def _plain(text: str) -> str:
    return scrub(visible(text))


MARKDOWN = Medium(quote=code, prose=prose)
PLAIN = Medium(quote=name, prose=_plain)
