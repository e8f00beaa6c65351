"""Read JSON that an enemy may have written. Nothing of it is ever echoed into an error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from ci_action.errors import EvidenceError


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """How much of everything a document may hold."""

    size_bytes: int = 20_000_000
    depth: int = 64
    string_length: int = 512
    digits: int = 40
    items: int = 2_000_000
    """Values in all: memory follows the number of values, not the number of bytes."""


DEFAULT_LIMITS = JsonLimits()


def parse_json(content: str | bytes, limits: JsonLimits = DEFAULT_LIMITS) -> Any:
    """Parse strict JSON: no NaN or infinity, no key twice, and no more of anything than ``limits`` allow.

    Raises:
        EvidenceError: says what is wrong and where, never what was found.
    """
    decoder = json.JSONDecoder(
        parse_constant=_refuse_constant,
        parse_int=lambda digits: _integer(digits, limits),
        parse_float=lambda digits: _float(digits, limits),
        object_pairs_hook=_object,
    )
    try:
        value = decoder.decode(_text(content, limits))
    except json.JSONDecodeError as error:
        raise EvidenceError(f"malformed JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise EvidenceError(_too_deep(limits)) from None
    _check_tree(value, limits)
    return value


def _text(content: str | bytes, limits: JsonLimits) -> str:
    try:
        data = content.encode() if isinstance(content, str) else content
        if len(data) > limits.size_bytes:
            raise EvidenceError(f"the document is {len(data)} bytes long; at most {limits.size_bytes} are read")
        return data.decode()
    except UnicodeError:
        raise EvidenceError("the document is not UTF-8") from None


def _refuse_constant(_name: str) -> NoReturn:
    raise EvidenceError("malformed JSON: NaN and infinity are not numbers that can be measured")


def _integer(digits: str, limits: JsonLimits) -> int:
    if len(digits) > limits.digits:
        raise EvidenceError(f"malformed JSON: a number has {len(digits)} digits; at most {limits.digits} are read")
    return int(digits)


def _float(digits: str, limits: JsonLimits) -> float:
    number = float(digits) if len(digits) <= limits.digits else float("inf")
    if not isfinite(number):
        raise EvidenceError("malformed JSON: a number is too long or too large")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise EvidenceError("malformed JSON: an object has one key twice")
    return found


def _too_deep(limits: JsonLimits) -> str:
    return f"malformed JSON: nested deeper than {limits.depth} levels"


def _check_tree(value: Any, limits: JsonLimits) -> None:
    """Walk level by level, without recursion: the depth is the enemy's."""
    level, depth, seen = [value], 0, 0
    while level:
        seen += len(level)
        if seen > limits.items:
            raise EvidenceError(f"the document holds more than {limits.items} values")
        if depth > limits.depth:
            raise EvidenceError(_too_deep(limits))
        for item in level:
            for text in item if isinstance(item, dict) else (item,):
                if isinstance(text, str):
                    _check_string(text, limits)
        level = [child for item in level for child in _children(item)]
        depth += 1


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []


def _check_string(text: str, limits: JsonLimits) -> None:
    if len(text) > limits.string_length:
        raise EvidenceError(f"a text has {len(text)} characters; at most {limits.string_length} are read")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise EvidenceError("a text holds half of a surrogate pair") from None
