"""The only texts that cross from measured code into a report that another run publishes: identifiers."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

IDENTIFIER_LENGTH = 200
IDENTIFIER = r"^(?!.*::)[A-Za-z0-9_.:/+@-]{0,200}$"
"""As the schema has it: no space, no bracket, nothing that Markdown, HTML, a shell or a runner would act on."""

_IDENTIFIER = re.compile(IDENTIFIER.removeprefix("^").removesuffix("$"))
_OTHER = re.compile(r"[^A-Za-z0-9_.:/+@-]|:(?=:)|(?<=:):")


def is_identifier(text: str) -> bool:
    """Whether a text may cross as it is."""
    return _IDENTIFIER.fullmatch(text) is not None


def identifier(text: str) -> str:
    """Make a text one that may cross. A digest keeps two different texts different."""
    if is_identifier(text):
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_OTHER.sub('_', text)[: IDENTIFIER_LENGTH - 9]}_{digest}"


def with_identifiers(value: Any) -> Any:
    """Give a JSON value with every text in it made an identifier."""
    if isinstance(value, str):
        return identifier(value)
    if isinstance(value, dict):
        return {identifier(str(key)): with_identifiers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [with_identifiers(item) for item in value]
    return value


def holds_only_identifiers(value: Any) -> bool:
    """Whether every text in a JSON value is an identifier. Without recursion: the depth is the enemy's."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if not is_identifier(item):
                return False
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
    return True
