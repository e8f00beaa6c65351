"""Results on their way out: strict JSON, every string cut here, each file complete the moment it has its name."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ci_action.core.spec import TargetResult

STRING_CHARACTERS = 512


def write_result(result: TargetResult, path: Path) -> None:
    """Write one result under its final name in a single step. Raises ValueError for numbers that are not finite."""
    text = json.dumps(bounded(result), allow_nan=False, separators=(",", ":"))
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)  # noqa: PTH105 # Path.replace() raises other errors on Windows


def bounded(value: Any) -> Any:
    """The same JSON value with every string and key cut to a fixed length."""
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, dict):
        return {cut(str(key)): bounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [bounded(item) for item in value]
    return value


def cut(text: str) -> str:
    """Take the middle out of a long string; a digest keeps two long names apart. Lone surrogates are replaced."""
    if not text.isascii():
        text = text.encode("utf-8", errors="replace").decode("utf-8")
    if len(text) <= STRING_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    half = (STRING_CHARACTERS - len(digest) - 2) // 2
    return f"{text[:half]}…{digest}…{text[-half:]}"
