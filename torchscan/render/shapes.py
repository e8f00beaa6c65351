"""Recorded metadata of inputs and outputs as one line of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MOST_ITEMS = 4
_MOST_DEPTH = 3


def shape_text(described: Any, depth: int = 0) -> str:
    """Write a shape, or the shapes in a container: ``(1, 8, 30, 30)``, ``[(1, 4), None]``, ``{logits: (1, 8192)}``."""
    if not isinstance(described, Mapping):
        return "unknown"
    kind = described.get("kind")
    if kind == "tensor":
        sizes = ["?" if size is None else str(size) for size in _list(described.get("shape"))]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    if kind == "none":
        return "None"
    if kind in ("tuple", "list"):
        opening, closing = ("(", ")") if kind == "tuple" else ("[", "]")
        return f"{opening}{_items(dict(enumerate(_list(described.get('items')))), depth, named=False)}{closing}"
    fields = described.get("items") if kind == "mapping" else described.get("fields")
    if isinstance(fields, Mapping):
        return f"{{{_items(fields, depth, named=True)}}}"
    return str(described.get("type", kind or "unknown"))


def call_text(described: Mapping[str, Any]) -> str:
    """Write the arguments of one call, keyword arguments with their names."""
    positional = [shape_text(item) for item in _list(described.get("args"))]
    named = [f"{name}={shape_text(item)}" for name, item in _mapping(described.get("kwargs")).items()]
    return ", ".join([*positional, *named]) or "no arguments"


def dtypes_and_devices(described: Any) -> tuple[list[str], list[str]]:
    """List the distinct dtypes and devices of the tensors in a description, in order of appearance."""
    dtypes: dict[str, None] = {}
    devices: dict[str, None] = {}
    waiting = [described]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(reversed(item))
        elif isinstance(item, Mapping):
            if "dtype" in item:
                dtypes[str(item["dtype"]).removeprefix("torch.")] = None
                devices[str(item.get("device", "unknown"))] = None
            else:
                waiting.extend(reversed([each for each in item.values() if isinstance(each, list | Mapping)]))
    return list(dtypes), list(devices)


def _list(value: Any) -> list[Any]:
    """Take a list as it is; a report from a file may hold anything instead."""
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(items: Mapping[Any, Any], depth: int, *, named: bool) -> str:
    if depth >= _MOST_DEPTH:
        return "…"
    shown = [
        f"{key}: {shape_text(item, depth + 1)}" if named else shape_text(item, depth + 1)
        for key, item in list(items.items())[:_MOST_ITEMS]
    ]
    return ", ".join([*shown, *(["…"] if len(items) > _MOST_ITEMS else [])])
