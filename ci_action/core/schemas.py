"""The JSON Schemas that ship inside the package."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

SchemaName = Literal["config", "verdict", "evidence"]


@cache
def load_schema(name: SchemaName) -> dict[str, Any]:
    """Give a schema of this package. Shared: treat it as read-only."""
    text = files("ci_action").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
