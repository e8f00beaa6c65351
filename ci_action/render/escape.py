"""Text from a repository inside GitHub's Markdown: shown as it is, never acting.

Whatever came from measured code, a config or GitHub stands in a code span, where mentions, issue references, links,
HTML and math are inert. Control and bidirectional characters are spelled out, so that no name can hide or reorder text.
"""

from __future__ import annotations

import re
from hashlib import sha256
from html import escape as html_escape
from unicodedata import category

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Unicode categories that print nothing or move other text: controls, format marks, surrogates, odd spaces."""
_NEWLINES = re.compile(r"[\r\n\t\v\f\x85\u2028\u2029]+")
_BACKTICKS = re.compile(r"`+")
_MARKER = re.compile("torchscan-action:")
_ABSOLUTE = re.compile(r"(?<![\w.:/])(?:/[^\s/:\"'`]+){2,}/|(?<!\w)[A-Za-z]:\\(?:[^\s\\:\"'`]+\\)+")

_OUR_WORDS = re.compile(r"[A-Za-z][A-Za-z0-9 ,.;:'()%-]*")
_REFERENCE = re.compile(r"www\.|GH-\d|[0-9a-f]{7}|\w@|://", re.IGNORECASE)

NAME_LENGTH = 60


def visible(text: str) -> str:
    """Spell out what cannot be seen: ``\\u{202e}``. Line breaks become spaces."""
    text = _NEWLINES.sub(" ", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{{{ord(sign):x}}}" if category(sign) in _HIDDEN and sign != " " else sign for sign in text)


def shorten(text: str, length: int = NAME_LENGTH) -> str:
    """Cut the middle out of a long text. A digest takes its place, so that two long names stay two."""
    if len(text) <= length:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    kept = length - len(digest) - 2
    return f"{text[: kept - kept // 2]}…{digest}…{text[len(text) - kept // 2 :]}"


def name(text: str, length: int = NAME_LENGTH) -> str:
    """Give a name as every report shows it, before the escaping of its medium."""
    return shorten(visible(text).strip() or "(empty)", length)


def code(text: str, *, length: int = NAME_LENGTH) -> str:
    """Put a text into a code span of running text."""
    shown = _MARKER.sub(r"torchscan-action\\u{3a}", name(text, length))
    fence = "`" * (max(map(len, _BACKTICKS.findall(shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str, *, length: int = NAME_LENGTH) -> str:
    """Put a text into a code span inside a table, where a bar would end the cell even within code.

    A backslash before a bar is doubled in effect (GFM takes one of them away), so it is spelled out instead.
    """
    return code(text.replace("\\|", "\\u{5c}|"), length=length).replace("|", "\\|")


def prose(text: str) -> str:
    """Give one of our own sentences as it is, and any text that holds somebody else's words as a code span."""
    return text if _OUR_WORDS.fullmatch(text) and not _REFERENCE.search(text) else code(scrub(text), length=300)


def summary_code(text: str) -> str:
    """Put a text into HTML ``<code>`` inside ``<summary>``, where Markdown does not reach; elsewhere it would act."""
    shown = _MARKER.sub(r"torchscan-action\\u{3a}", name(text))
    return f"<code>{html_escape(shown, quote=True)}</code>"


def block(lines: list[str], *, most_lines: int = 10, line_length: int = 200) -> str:
    """Put lines into a fenced block that none of them can close."""
    shown = [shorten(scrub(visible(line)), line_length).rstrip() for line in lines[:most_lines]]
    shown = [_MARKER.sub(r"torchscan-action\\u{3a}", line) for line in shown]
    longest = max((len(run) for line in shown for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *shown, fence])


def scrub(text: str) -> str:
    """Drop the folders of absolute paths: they name a runner's or a person's disk."""
    return _ABSOLUTE.sub("…/", text)
