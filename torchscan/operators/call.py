"""One dispatched call, and the sizes of what it received and returned: the vocabulary that formulas are written in."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from torch import Tensor


class Call:
    """What one operator received and returned. Borrowed: nothing here outlives the count.

    Attributes:
        args: positional arguments. Dispatch gives every argument that has a place by place, and drops trailing ones
            that equal their defaults.
        kwargs: keyword-only arguments that differ from their defaults.
        output: what the operator returned; in-place list operators return nothing.
    """

    __slots__ = ("args", "kwargs", "output")

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Any) -> None:
        self.args = args
        self.kwargs = kwargs
        self.output = output

    def at(self, index: int, default: Any = None) -> Any:
        """Give a positional argument, or its default when it was dropped."""
        return self.args[index] if len(self.args) > index else default

    def named(self, index: int, name: str, default: Any = None) -> Any:
        """Give an argument that some overloads take by place and others by name."""
        return self.args[index] if len(self.args) > index else self.kwargs.get(name, default)

    def integer(self, index: int, default: int = 0) -> int:
        """Give a positional integer."""
        return int(self.at(index, default))

    def flag(self, index: int, name: str = "", default: bool = False) -> bool:
        """Say whether an option is on: not false, zero or absent."""
        return bool(self.named(index, name, default))

    def has(self, index: int, name: str = "") -> bool:
        """Say whether an optional tensor was given."""
        return isinstance(self.named(index, name), Tensor)

    @property
    def written(self) -> int:
        """Elements that the operator wrote."""
        return elements(self.args[0] if self.output is None else self.output)

    @property
    def values(self) -> Any:
        """The first output: the values, where an operator also returns indices or statistics."""
        return self.output[0] if isinstance(self.output, tuple | list) else self.output


def elements(value: Any) -> int:
    """Count the elements of a tensor, or of all tensors in a list; anything else has none."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, list | tuple):
        return sum(map(elements, value))
    return 0


def sizes(tensor: Any) -> tuple[int, ...]:
    """Give the lengths of a tensor's axes."""
    shape: tuple[int, ...] = tensor.shape
    return shape


def rows_over(tensor: Any, axes: int = 1) -> int:
    """Count the rows of a tensor: its elements over the lengths of its last axes."""
    length = prod(sizes(tensor)[-axes:]) if axes else 1
    return elements(tensor) // length if length else 0


def lines_along(tensor: Any, axis: int) -> int:
    """Count the lines of a tensor along one axis; a scalar is one line of one."""
    shape = sizes(tensor)
    length = shape[axis] if shape else 1
    return elements(tensor) // length if length else 0


def per_axis(value: Any, axes: int, default: list[int] | None = None) -> list[int]:
    """Spell an int, a one-element list or a list out as one number per spatial axis; nothing gives the default."""
    if value is None or (isinstance(value, list | tuple) and not value):
        return default or [0] * axes
    if isinstance(value, int):
        return [value] * axes
    given = [int(item) for item in value]
    return given * axes if len(given) == 1 else given
