"""Sizes of what an operator received and returned: the vocabulary that the formulas are written in."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from torch import Tensor

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]


def elements(value: Any) -> int:
    """Count the elements of a tensor, or of all tensors in a list."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, list | tuple):
        return sum(map(elements, value))
    return 0


def produced(args: Args, output: Any) -> int:
    """Count the elements an operator wrote; an in-place list operator returns nothing and wrote its first argument."""
    return elements(args[0] if output is None else output)


def at(args: Args, index: int, default: Any = None) -> Any:
    """Give a positional argument, or its default: dispatch drops trailing arguments that equal their defaults."""
    return args[index] if len(args) > index else default


def named(args: Args, kwargs: Kwargs, index: int, name: str, default: Any = None) -> Any:
    """Give an argument that may come by position or by name."""
    return args[index] if len(args) > index else kwargs.get(name, default)


def is_tensor(value: Any) -> bool:
    """Say whether an optional tensor was given."""
    return isinstance(value, Tensor)


def per_axis(value: Any, axes: int, default: Any = None) -> list[int]:
    """Spell an int, a one-element list or a list out as one number per spatial axis."""
    if value is None or (isinstance(value, list | tuple) and not value):
        value = default
    if isinstance(value, int):
        return [value] * axes
    given = [int(item) for item in value]
    return given * axes if len(given) == 1 else given


def axis_lengths(tensor: Tensor, dims: Any) -> int:
    """Multiply the lengths of ``dims`` (an int, a list, or None for all axes)."""
    if dims is None or (isinstance(dims, list | tuple) and not dims):
        return tensor.numel()
    if isinstance(dims, int):
        dims = (dims,)
    shape = tensor.shape
    return prod(shape[dim] for dim in dims) if shape else 1


def rows_along(tensor: Tensor, dim: int) -> int:
    """Count the lines of a tensor along one axis; a scalar is one line of one."""
    length = tensor.shape[dim] if tensor.dim() else 1
    return tensor.numel() // length if length else 0
