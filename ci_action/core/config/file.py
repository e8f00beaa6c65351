"""Find the owner's config among its three possible places, and read it into values."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any, Literal

from ci_action.core.config.committed import MAX_BYTES
from ci_action.core.config.errors import Place, check_schema
from ci_action.core.config.toml_lines import key_lines, opens_table
from ci_action.core.config.values import build_config
from ci_action.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ci_action.core.config.committed import CommittedFile
    from ci_action.core.config.entries import Config

Kind = Literal["torchscan", "pyproject"]

TABLE = ("tool", "torchscan-ci")
_PLACES: tuple[tuple[str, Kind], ...] = (
    ("torchscan.toml", "torchscan"),
    (".github/torchscan.toml", "torchscan"),
    ("pyproject.toml", "pyproject"),
)
_SYNTAX_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigText:
    """A config file as it stands in one commit. ``source`` is its path inside the repository."""

    source: str
    text: str
    kind: Kind


def find_config(read: Callable[[str], CommittedFile], *, working_directory: str = ".") -> ConfigText | None:
    """Look at the three places; ``read`` returns what one commit has at a path.

    A ``torchscan.toml`` is always a config. A ``pyproject.toml`` is one only with a table of ours: every other one is
    somebody else's file, in whatever state it is.

    Raises:
        ConfigError: where more than one place holds a config, or a config is no text.
    """
    found = []
    for name, kind in _PLACES:
        source = normpath(join(working_directory, name))
        item = read(source)
        if not item.is_absent and (kind == "torchscan" or _has_table(item)):
            found.append((source, kind, item))
    if len(found) > 1:
        places = " and ".join(source for source, _, _ in found)
        problem = f"two configs: {places}; keep one of them, so that it is plain whose limits count"
        raise ConfigError(problem, file=found[-1][0])
    return _text_of(*found[0]) if found else None


def _text_of(source: str, kind: Kind, item: CommittedFile) -> ConfigText:
    if item.text is None:
        problem = f"{source} is {item.problem}: put a plain UTF-8 text file of at most {MAX_BYTES >> 20} MiB there"
        raise ConfigError(problem, file=source)
    return ConfigText(source=source, text=item.text, kind=kind)


def load_config(text: str, *, source: str, kind: Kind = "torchscan") -> Config:
    """Read one config text.

    Raises:
        ConfigError: names file, line, key, what was found, what is accepted, and a near match.
    """
    document = _parse(text, source)
    place = Place(source=source, lines=key_lines(text), prefix=TABLE if kind == "pyproject" else ())
    table: Any = document
    for part in place.prefix:
        table = table.get(part) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise ConfigError(f"{source}: [{'.'.join(TABLE)}] is missing or is not a table: give it one", file=source)
    check_schema(table, place)
    return build_config(table, place)


def _parse(text: str, source: str) -> dict[str, Any]:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise ConfigError(
            f"{source}: the file is larger than {MAX_BYTES >> 20} MiB, which no config needs", file=source
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), source) from None
    except (ValueError, RecursionError) as error:  # an integer past the digit cap; brackets without an end
        fault = "brackets nested too deeply" if isinstance(error, RecursionError) else "a number with too many digits"
        raise ConfigError(f"{source}: not TOML that can be read: it holds {fault}", file=source) from None


def _not_toml(said: str, source: str) -> ConfigError:
    """The parser's own words. At the end of a document it names no line, and the fault is seldom on the last one."""
    place = _SYNTAX_PLACE.search(said)
    if place is None:
        return ConfigError(f"{source}: not TOML: {said}", file=source)
    line, column = int(place[1]), int(place[2])
    problem = f"{source}:{line}: not TOML: {_SYNTAX_PLACE.sub('', said)}"
    return ConfigError(problem, file=source, line=line, column=column)


def _has_table(item: CommittedFile) -> bool:
    """Check whether a pyproject.toml holds a table of ours. One that is broken may hold it: then its error is told."""
    text = item.text if item.text is not None else item.glimpse
    if TABLE[1] not in text:
        return False
    try:
        tool = tomllib.loads(text).get(TABLE[0])
    except (ValueError, RecursionError):  # TOMLDecodeError is a ValueError
        return opens_table(text, TABLE)
    return isinstance(tool, dict) and TABLE[1] in tool
