"""The README's table of config keys, from the schema: one source for the editor, the check and the words."""

from __future__ import annotations

from typing import Any

from ci_action.core.schemas import load_schema

_TABLES = (("", ""), ("[[targets]]", "target"), ("[targets.benchmark]", "benchmark"), ("[[limits]]", "limit"))


def markdown_table() -> str:
    """Write one Markdown table of every key with type, default, unit and meaning."""
    lines = ["| Key | Type | Default | Unit | Meaning |", "| --- | --- | --- | --- | --- |"]
    schema = load_schema("config")
    for table, definition in _TABLES:
        content = schema["$defs"][definition] if definition else schema
        for key, entry in content["properties"].items():
            resolved = _resolve(entry, schema)
            name = f"`{table} {key}`" if table else f"`{key}`"
            default = _default(key, resolved, content)
            cells = (
                name,
                _type(resolved, schema),
                default,
                resolved.get("x-unit", ""),
                resolved.get("description", ""),
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _resolve(entry: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference; what stands beside it wins."""
    if "$ref" not in entry:
        return entry
    target = schema["$defs"][entry["$ref"].removeprefix("#/$defs/")]
    return {**target, **{key: value for key, value in entry.items() if key != "$ref"}}


def _type(entry: dict[str, Any], schema: dict[str, Any]) -> str:
    if "enum" in entry:
        return " or ".join(f"`{value}`" for value in entry["enum"])
    if "const" in entry:
        return f"`{_toml(entry['const'])}`"
    if "anyOf" in entry:
        return " or ".join(_type(_resolve(part, schema), schema) for part in entry["anyOf"])
    kind = entry["type"]
    if kind == "array":
        inner = _resolve(entry["items"], schema)
        plain = "tables" if inner.get("type") == "object" else "metrics" if "enum" in inner else "texts"
        return f"list of {plain}"
    words = {"string": "text", "object": "table", "integer": "integer", "number": "number", "boolean": "true or false"}
    return " or ".join(words[each] for each in ([kind] if isinstance(kind, str) else kind))


def _default(key: str, entry: dict[str, Any], content: dict[str, Any]) -> str:
    if "default" in entry:
        return f"`{_toml(entry['default'])}`"
    return "required" if key in content.get("required", ()) else ""


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
