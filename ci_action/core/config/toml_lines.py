"""On which line a key of a TOML text stands: tomllib does not say, and an error without a line is a search."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(?P<open>\[\[?)\s*(?P<key>[^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(
    r"""\s*(?P<key>(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*'""")
_STRING_OR_COMMENT = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')
_ENDS = {'"""': re.compile(r'(?:\\.|[^"\\]|"(?!""))*"""'), "'''": re.compile(r".*?'''")}
_NOWHERE: Path = (-1,)
"""A table that this scan cannot name. Its keys must not be taken for those of another."""


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
    for number, line in enumerate(text.split("\n"), start=1):  # TOML and GitHub know no other end of a line
        is_inside = bool(fence) or depth > 0
        bare, fence = _bare(line.removesuffix("\r"), fence)
        if not is_inside:
            _note(line, number, cursor, lines)
        if is_inside or not _opens_table(line):
            depth = max(0, depth + sum(map(bare.count, "[{")) - sum(map(bare.count, "]}")))
    return lines


def opens_table(text: str, table: Path) -> bool:
    """Check whether a broken text seems to open a table, or a table inside it. Best effort, in doubt yes.

    Brackets are not counted, since one that is missing may be what broke the text. Lines inside a string of several
    lines do not count, unless the string has no end.
    """
    if any(path[: len(table)] == table for path in key_lines(text)):
        return True
    fence, is_pending = "", False
    for line in text.split("\n"):
        is_header = _is_header(line.removesuffix("\r"), table)
        if not fence and is_header:
            return True
        is_pending = bool(fence) and (is_pending or is_header)
        _, fence = _bare(line.removesuffix("\r"), fence)
    return bool(fence) and is_pending


def _is_header(line: str, table: Path) -> bool:
    header = _HEADER.fullmatch(line)
    return header is not None and tuple(_parts(header["key"]))[: len(table)] == table


def _bare(line: str, fence: str) -> tuple[str, str]:
    """The line without strings and comments, and the fence of a string that goes on in the next line."""
    bare, at = "", 0
    while at < len(line):
        if fence:
            end = _ENDS[fence].match(line, at)
            if end is None:
                return bare, fence
            at, fence = end.end(), ""
            continue
        token = _STRING_OR_COMMENT.search(line, at)
        if token is None:
            return bare + line[at:], ""
        bare, at = bare + line[at : token.start()], token.end()
        fence = token[0] if token[0] in _ENDS else ""
    return bare, fence


def _opens_table(line: str) -> bool:
    return line.lstrip(" \t").startswith("[")


def _note(line: str, number: int, cursor: _Cursor, lines: dict[Path, int]) -> None:
    if header := _HEADER.fullmatch(line):
        cursor.open(header["key"], array=header["open"] == "[[")
        for end in range(1, len(cursor.table) + 1):
            lines.setdefault(cursor.table[:end], number)
    elif _opens_table(line):
        cursor.table = _NOWHERE
    elif key := _KEY.match(line):
        lines.setdefault((*cursor.table, *_parts(key["key"])), number)


def line_of(path: Path, lines: dict[Path, int]) -> int | None:
    """Give the line of a path, or of the nearest thing around it that has one."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None
