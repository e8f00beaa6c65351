"""What a terminal can show: its width, whether it takes colour, whether it takes more than ASCII."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

DEFAULT_WIDTH = 80
WIDEST = 120
MOST_ROWS = 200
_SIGNS = "├─│└≥—×…−µ"


@dataclass(frozen=True, slots=True)
class Terminal:
    """How to write to one stream. ``most_rows`` is None for files, which are never cut."""

    width: int
    ascii: bool
    color: bool
    most_rows: int | None


def detect(stream: TextIO, environ: Mapping[str, str]) -> Terminal:
    """Find out about a stream. ``FORCE_COLOR`` wins over everything, ``NO_COLOR`` over the terminal."""
    is_terminal = stream.isatty()
    return Terminal(
        width=_width(stream, environ, is_terminal=is_terminal),
        ascii=not _takes_signs(getattr(stream, "encoding", None)),
        color=_takes_color(environ, is_terminal=is_terminal),
        most_rows=MOST_ROWS if is_terminal else None,
    )


def _width(stream: TextIO, environ: Mapping[str, str], *, is_terminal: bool) -> int:
    stated = environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return min(int(stated), WIDEST)
    if is_terminal:
        try:
            return min(os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH, WIDEST)
        except (OSError, ValueError):
            return DEFAULT_WIDTH
    return DEFAULT_WIDTH


def _takes_signs(encoding: str | None) -> bool:
    try:
        _SIGNS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _takes_color(environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    if environ.get("FORCE_COLOR"):
        return True
    return is_terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
