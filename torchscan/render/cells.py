"""Text in terminal cells: how wide it is, how to cut it, how to pad it."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category, combining, east_asian_width

from torchscan.render.units import ELLIPSIS


def cell_width(text: str) -> int:
    """Count display cells: East Asian wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_width, text))


@lru_cache(maxsize=2048)
def _width(character: str) -> int:
    if combining(character) or category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def fit(text: str, width: int) -> str:
    """Cut the middle out of a text that is wider than ``width`` cells."""
    if cell_width(text) <= width:
        return text
    if width < 2:
        return ELLIPSIS[:width]
    tail = _tail(text, (width - 1) // 2)
    return f"{_head(text, width - 1 - cell_width(tail))}{ELLIPSIS}{tail}"


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a text up to ``width`` cells."""
    blank = " " * max(0, width - cell_width(text))
    return f"{blank}{text}" if right else f"{text}{blank}"


def _head(text: str, width: int) -> str:
    used = 0
    for at, character in enumerate(text):
        used += _width(character)
        if used > width:
            return text[:at]
    return text


def _tail(text: str, width: int) -> str:
    used = 0
    for at in range(len(text) - 1, -1, -1):
        used += _width(text[at])
        if used > width:
            return text[at + 1 :]
    return text
