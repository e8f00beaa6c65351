"""What is wrong with a config, as one sentence: file, line, key, what was found, what is accepted, a near match."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from ci_action.core.config.toml_lines import line_of
from ci_action.core.schemas import load_schema
from ci_action.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    from ci_action.core.config.toml_lines import Path

MAX_KEY_CHARACTERS = 60
_TYPES = {
    "string": "text in quotes",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "a table",
    "boolean": "true or false",
}
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The config text that a message speaks of."""

    source: str
    lines: dict[Path, int]
    prefix: tuple[str, ...] = ()
    """Where the config's own table stands inside the file (``tool.torchscan-ci`` of a pyproject.toml)."""

    def line(self, path: Path) -> int | None:
        """Give the line on which a key stands."""
        return line_of((*self.prefix, *path), self.lines)

    def error(self, path: Path, problem: str) -> ConfigError:
        """Build the one error that a user reads."""
        line = self.line(path)
        where = self.source if line is None else f"{self.source}:{line}"
        key = dotted(path)
        text = f"{where}: {key}: {problem}" if key else f"{where}: {problem}"
        return ConfigError(text, file=self.source, line=line)


def dotted(path: Path) -> str:
    """Write a path as ``limits[0].max-increase``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{_key(part)}" if text else _key(part)
    return text


def _key(name: str) -> str:
    """Show a key as it is, unless it is long or holds what steers a terminal."""
    return name if name.isprintable() and len(name) <= MAX_KEY_CHARACTERS else found(name)


def near(word: object, known: Iterable[str]) -> str:
    """Say what the writer may have meant, where something is near."""
    matches = get_close_matches(str(word)[:200], list(known), n=1, cutoff=0.6)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def found(value: object) -> str:
    """Show a value of the config, short enough for one line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer past the digit cap, a table without an end
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:60]}…{text[-10:]}"


def check_schema(table: dict[str, Any], place: Place) -> None:
    """Hold a config table against the shipped schema.

    Raises:
        ConfigError: the most telling of the faults.
    """
    faults = list(islice(_validator().iter_errors(table), 20))
    if not faults:
        return
    first = min(faults, key=lambda fault: (fault.validator != "additionalProperties", len(fault.absolute_path)))
    path, problem = _explain(first)
    raise place.error(path, problem)


@cache
def _validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # a quarter of a second that only a run with a config pays

    return Draft202012Validator(load_schema("config"))


def _explain(fault: ValidationError) -> tuple[Path, str]:
    path = cast("Path", tuple(fault.absolute_path))
    schema = cast("dict[str, Any]", fault.schema)
    instance: Any = fault.instance
    required: Any = fault.validator_value
    if fault.validator == "additionalProperties":
        known = schema["properties"]
        unknown = next(key for key in instance if key not in known)
        return (*path, unknown), f"unknown key{near(unknown, known) or '; accepted: ' + ', '.join(known)}"
    if fault.validator == "required":
        missing = next(key for key in required if key not in instance)
        return (
            path,
            f"the key {missing!r} is missing: {schema['properties'][missing].get('description', 'it must be given')}",
        )
    if fault.validator == "anyOf":
        from jsonschema.exceptions import relevance

        deepest = min(fault.context or (), key=relevance, default=None)
        if deepest is not None and deepest.validator == "additionalProperties":
            return _explain(deepest)
    return path, f"found {found(fault.instance)}; accepted: {_accepted(fault, schema)}"


def _accepted(fault: ValidationError, schema: dict[str, Any]) -> str:
    value: Any = fault.validator_value
    match fault.validator:
        case "enum":
            return ", ".join(map(repr, value)) + near(fault.instance, value)
        case "const":
            return repr(value)
        case "type" if isinstance(value, str):
            return _TYPES.get(value, value)
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" if fault.validator != "maximum" or value:
            return f"{_BOUNDS[fault.validator]} {value:g}"
        case "uniqueItems":
            return "each item once"
        case "maxItems" | "maxLength":
            return f"at most {value} {'items' if fault.validator == 'maxItems' else 'characters'}"
        case _:
            return str(schema.get("description", value))
