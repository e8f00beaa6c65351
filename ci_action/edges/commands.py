"""The runner's command language as text: annotations, outputs, and untrusted lines made harmless."""

from __future__ import annotations

import re
import secrets
from unicodedata import category

from ci_action.errors import ActionError

OUTPUT_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
MESSAGE_CHARACTERS = 4000
_ENCODED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
KINDS = frozenset({"error", "warning", "notice"})


def annotation(
    kind: str, message: str, *, file: str | None = None, line: int | None = None, column: int | None = None
) -> str:
    """One annotation command, on one line whatever it is about. The runner takes a column only beside a line."""
    if kind not in KINDS:
        raise ValueError(f"an annotation is one of {sorted(KINDS)}, got {kind!r}")
    properties = {"title": "TorchScan", "file": file, "line": line, "col": column if line else None}
    shown = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    return f"::{kind} {shown}::{_data(message[:MESSAGE_CHARACTERS])}"


def output_block(name: str, value: str) -> str:
    """One entry of GITHUB_OUTPUT, framed by a delimiter that nobody can know in advance."""
    if not OUTPUT_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of an output")
    delimiter = f"torchscan_{secrets.token_hex(16)}"
    if delimiter in value:
        raise ActionError("an output contains its own random delimiter")
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def replayed(title: str, text: str) -> str:
    """Foreign output in a folded group, between stop-commands, with every command in it broken."""
    token = secrets.token_hex(16)
    lines = "\n".join(defused(line) for line in text.splitlines())
    return f"::group::{_data(title)}\n::stop-commands::{token}\n{lines}\n::{token}::\n::endgroup::"


def visible(line: str) -> str:
    """Return the line with its control characters shown: no escape sequence moves a cursor or hides a word."""
    return "".join(char if _is_seen(char) else f"\\x{ord(char):02x}" for char in line)


def _is_seen(char: str) -> bool:
    """Check whether a character is one that a reader sees, or a space of any width: our numbers hold unbroken ones."""
    return char == "\t" or char.isprintable() or category(char) == "Zs"


def defused(line: str) -> str:
    """Return the line with ``::`` at its start and ``##[`` anywhere broken by a space, and control characters shown."""
    broken = visible(line).replace("##[", "## [")
    rest = broken.lstrip()
    return f"{broken[: len(broken) - len(rest)]}: {rest[1:]}" if rest.startswith("::") else broken


def _data(text: str) -> str:
    return "".join(_ENCODED.get(char) or visible(char) for char in text)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
