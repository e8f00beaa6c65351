"""What a runner reads: workflow commands in printed lines, and the files that a step may write.

Facts: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands, and actions/runner's published
behaviour: ``::name key=value::text`` counts at the start of a line, after white space; ``##[name key=value]text``
anywhere in it; between ``::stop-commands::token`` and ``::token::`` nothing else counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

KNOWN = frozenset(
    {
        *("error", "warning", "notice", "debug", "group", "endgroup", "echo", "stop-commands"),
        *("add-mask", "add-matcher", "remove-matcher", "save-state", "set-output", "set-env", "add-path"),
    }
)
_SECOND = re.compile(r"\s*::([\w-]+)(?: ([^:]*))?::(.*)", re.DOTALL)
_FIRST = re.compile(r"##\[([\w-]+)(?: ([^\]]*))?\](.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """A command on which a runner acts."""

    name: str
    text: str


def commands(printed: str) -> list[Command]:
    """Return every command on which a runner would act, in order."""
    return list(_commands(printed))


def _commands(printed: str) -> Iterator[Command]:
    token: str | None = None
    for line in re.split(r"\r\n|\r|\n", printed):
        found = _SECOND.match(line) or _FIRST.search(line)
        if found is None:
            continue
        name, text = found[1], found[3]
        if token is not None:
            token = None if name == token else token
        elif name == "stop-commands":
            token = text
            yield Command(name, "")
        elif name in KNOWN:
            yield Command(name, text)


def file_entries(text: str) -> dict[str, str]:
    """Read a file of GITHUB_OUTPUT or GITHUB_ENV: ``name=value``, or ``name<<delimiter`` and lines up to it."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, sign, value = _split(line)
        if sign == "<<":
            inner = []
            for one in lines:
                if one == value:
                    break
                inner.append(one)
            else:
                raise ValueError(f"the delimiter of {name!r} never comes")
            found[name] = "\n".join(inner)
        elif sign:
            found[name] = value
    return found


def _split(line: str) -> tuple[str, str, str]:
    equals, heredoc = line.find("="), line.find("<<")
    if heredoc >= 0 and (equals < 0 or heredoc < equals):
        return line[:heredoc], "<<", line[heredoc + 2 :]
    return (line[:equals], "=", line[equals + 1 :]) if equals >= 0 else ("", "", "")
