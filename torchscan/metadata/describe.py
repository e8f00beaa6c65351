"""Describe any value a module may receive or return: its structure and its tensors' metadata, never a value.

Equal descriptions are one object. A report of many thousand calls repeats few shapes, so it stays small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch

MAX_DEPTH = 32
"""Containers nested deeper than any real call are named by type only."""

Metadata = dict[str, Any]

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_SCALARS = (bool, int, float, complex, str, bytes, torch.SymInt, torch.SymFloat, torch.SymBool)


def describe(value: Any) -> Metadata:
    """Describe one value: kind, container structure, shape, dtype, device and gradient requirement."""
    return Describer().value(value)


class Describer:
    """Describes values and remembers what it said, by shape, dtype, device, gradient requirement and layout."""

    __slots__ = ("_calls", "_none", "_tensors")

    def __init__(self) -> None:
        self._tensors: dict[Any, Metadata] = {}
        self._calls: dict[Any, Metadata] = {}
        self._none: Metadata = {"kind": "none"}

    def value(self, value: Any) -> Metadata:
        """Describe an argument or an output."""
        if type(value) in _PLAIN:
            return self._tensor(value)
        return self._nested(value, ())

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Metadata:
        """Describe the arguments of one call: ``{"args": [...], "kwargs": {...}}``."""
        if not kwargs and len(args) == 1 and type(args[0]) in _PLAIN:  # nearly every call of a leaf module
            only = self._tensor(args[0])
            known = self._calls.get(id(only))
            if known is None:
                known = self._calls[id(only)] = {"args": [only], "kwargs": {}}
            return known
        return {"args": [self.value(arg) for arg in args], "kwargs": self._items(kwargs, ())}

    def _tensor(self, tensor: torch.Tensor) -> Metadata:
        try:
            key = (tensor.shape, tensor.dtype, tensor.device, tensor.requires_grad, tensor.layout)
            known = self._tensors.get(key)
        except Exception:  # noqa: BLE001 # a strided nested tensor has no shape; a tensor subclass may raise anything
            return _irregular_tensor(tensor)
        if known is None:
            known = _irregular_tensor(tensor) if tensor.is_nested else _regular_tensor(tensor)
            self._tensors[key] = known
        return known

    def _nested(self, value: Any, above: tuple[int, ...]) -> Metadata:
        if value is None:
            return self._none
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, _SCALARS):
            return {"kind": "scalar", "type": type(value).__name__}
        if id(value) in above:
            return {"kind": "object", "type": type(value).__name__, "is_recursive": True}
        if len(above) >= MAX_DEPTH:
            return {"kind": "object", "type": type(value).__name__}
        try:
            return self._container(value, (*above, id(value)))
        except Exception:  # noqa: BLE001 # a caller's container may raise on any access; it is still named
            return {"kind": "object", "type": type(value).__name__}

    def _container(self, value: Any, above: tuple[int, ...]) -> Metadata:
        kind: Metadata
        if isinstance(value, tuple):
            names = getattr(value, "_fields", None)
            if isinstance(names, tuple):  # a named tuple, such as PackedSequence, keeps its fields
                kind = {"kind": "tuple", "type": type(value).__name__, "fields": [str(name) for name in names]}
            else:
                kind = {"kind": "tuple"}
            return kind | {"items": [self._nested(item, above) for item in value]}
        if isinstance(value, list):
            return {"kind": "list", "items": [self._nested(item, above) for item in value]}
        if isinstance(value, Mapping):
            kind = {"kind": "mapping"} if type(value) is dict else {"kind": "mapping", "type": type(value).__name__}
            return kind | {"items": self._items(value, above)}
        if is_dataclass(value) and not isinstance(value, type):
            items = {field.name: getattr(value, field.name, None) for field in fields(value)}
            return {"kind": "object", "type": type(value).__name__, "fields": self._items(items, above)}
        return {"kind": "object", "type": type(value).__name__}

    def _items(self, items: Mapping[Any, Any], above: tuple[int, ...]) -> dict[str, Metadata]:
        # A key that is no string could hold a value: it is named by its type and position.
        return {
            key if isinstance(key, str) else f"<{type(key).__name__} {position}>": self._nested(item, above)
            for position, (key, item) in enumerate(items.items())
        }


def _regular_tensor(tensor: torch.Tensor) -> Metadata:
    described: Metadata = {
        "kind": "tensor",
        "shape": [_size(size) for size in tensor.shape],
        "dtype": str(tensor.dtype),
        "device": str(tensor.device),
        "requires_grad": tensor.requires_grad,
    }
    if tensor.layout is not torch.strided:
        described["layout"] = str(tensor.layout)
    return described


def _size(size: Any) -> int | None:
    return size if type(size) is int else None  # a symbolic size has no number


def _irregular_tensor(tensor: torch.Tensor) -> Metadata:
    """Describe a tensor without a rectangular shape, as far as it can be asked."""
    try:
        if not tensor.is_nested:
            return _regular_tensor(tensor)
        return {
            "kind": "nested_tensor",
            "dtype": str(tensor.dtype),
            "device": str(tensor.device),
            "requires_grad": tensor.requires_grad,
        }
    except Exception:  # noqa: BLE001 # it refuses every question, so only its type is known
        return {"kind": "object", "type": type(tensor).__name__}
