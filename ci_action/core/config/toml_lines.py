"""On which line a key of a TOML text stands: tomllib does not say, and an error without a line is a search."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(?P<open>\[\[?)\s*(?P<key>[^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(
    r"""\s*(?P<key>(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*'""")
_STRINGS = re.compile(r'"(?:\\.|[^"\\])*"|' + r"'[^']*'")
_FENCES = ('"""', "'''")


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(dotted)]


class _Cursor:
    """Where in the document the scan is: the open table, and how many entries each array of tables has so far."""

    def __init__(self) -> None:
        self.table: Path = ()
        self._entries: dict[Path, int] = {}

    def open(self, dotted: str, *, array: bool) -> None:
        """Enter ``[dotted]`` or ``[[dotted]]``; a name inside an array of tables means its latest entry."""
        path: Path = ()
        names = _parts(dotted)
        for position, name in enumerate(names):
            path = (*path, name)
            if array and position == len(names) - 1:
                self._entries[path] = self._entries.get(path, -1) + 1
            if path in self._entries:
                path = (*path, self._entries[path])
        self.table = path


def key_lines(text: str) -> dict[Path, int]:
    """Map each key's path (``("limits", 0, "metric")``) to its line, counted from 1. Best effort, never an error."""
    lines: dict[Path, int] = {}
    cursor, depth, fence = _Cursor(), 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if fence:
            fence = "" if fence in line else fence
            continue
        if depth == 0:
            _note(line, number, cursor, lines)
        fence = next((mark for mark in _FENCES if line.count(mark) % 2), "")
        bare = _STRINGS.sub("", line).split("#", 1)[0]
        if not _HEADER.fullmatch(line) or depth:
            depth = max(0, depth + sum(map(bare.count, "[{")) - sum(map(bare.count, "]}")))
    return lines


def _note(line: str, number: int, cursor: _Cursor, lines: dict[Path, int]) -> None:
    if header := _HEADER.fullmatch(line):
        cursor.open(header["key"], array=header["open"] == "[[")
        for end in range(1, len(cursor.table) + 1):
            lines.setdefault(cursor.table[:end], number)
    elif key := _KEY.match(line):
        lines.setdefault((*cursor.table, *_parts(key["key"])), number)


def line_of(path: Path, lines: dict[Path, int]) -> int | None:
    """Give the line of a path, or of the nearest thing around it that has one."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None
