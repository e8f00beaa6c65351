"""The arguments of the one observed call: the caller's own, or tensors generated from shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import torch
from torch import nn

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the module is called with, and where it came from."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    source: Literal["generated", "caller"]


def prepare_inputs(
    module: nn.Module,
    input_shape: list[Shape] | Shape | None,
    dtype: torch.dtype | Iterable[torch.dtype] | None,
    args: tuple[Any, ...] | None,
    kwargs: Mapping[str, Any] | None,
    device: str | torch.device | None,
) -> Inputs:
    """Give the caller's arguments unchanged, or generate one tensor per shape with a batch of one.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: arguments exclude each other, a shape is no shape, or shapes and dtypes differ in number.
    """
    if input_shape is None:
        return _from_caller(dtype, args, kwargs, device)
    if args is not None or kwargs is not None:
        given = " and ".join(name for name, value in (("args", args), ("kwargs", kwargs)) if value is not None)
        raise ValueError(f"input_shape generates the inputs and cannot be combined with {given}; pass one or the other")
    shapes = _shapes(input_shape)
    target = _device(module, device)
    dtypes = _dtypes(module, dtype, len(shapes))
    tensors = (_generate(shape, kind, target) for shape, kind in zip(shapes, dtypes, strict=True))
    return Inputs(tuple(tensors), {}, "generated")


def _from_caller(dtype: Any, args: Any, kwargs: Any, device: Any) -> Inputs:
    if args is None and kwargs is None:
        raise ValueError("the call needs inputs: pass input_shape=(channels, ...), or args=(...) and/or kwargs={...}")
    for name, value in (("dtype", dtype), ("device", device)):
        if value is not None:
            raise ValueError(f"{name} only applies to inputs generated from input_shape; convert args and kwargs first")
    if args is not None and not isinstance(args, tuple):
        raise TypeError(f"args must be a tuple of positional arguments, such as (x,), got {type(args).__name__}")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(f"kwargs must be a mapping of names to values, got {type(kwargs).__name__}")
    if any(not isinstance(name, str) for name in kwargs or ()):
        raise TypeError("kwargs must be named by strings")
    return Inputs(args or (), kwargs or {}, "caller")


def _shapes(input_shape: Any) -> list[Shape]:
    if isinstance(input_shape, list):
        if not input_shape:
            raise ValueError("input_shape must not be an empty list: give one shape per positional tensor")
        return [_shape(shape, f"input_shape[{position}]") for position, shape in enumerate(input_shape)]
    return [_shape(input_shape, "input_shape")]


def _shape(shape: Any, name: str) -> Shape:
    if not isinstance(shape, tuple) or not all(type(size) is int for size in shape):
        raise TypeError(
            f"{name} must be a tuple of ints without the batch dimension, such as (3, 224, 224), or a list of such "
            f"tuples; got {shape!r}"
        )
    if any(size < 0 for size in shape):
        raise ValueError(f"{name} must not hold negative sizes, got {shape!r}")
    return tuple(shape)


def _dtypes(module: nn.Module, dtype: Any, count: int) -> list[torch.dtype]:
    if dtype is None:
        return [_inferred(module, "dtype", torch.float32)] * count
    if isinstance(dtype, torch.dtype):
        return [dtype] * count
    if isinstance(dtype, str) or not isinstance(dtype, Iterable):
        raise TypeError(f"dtype must be a torch.dtype or an iterable of one per shape, got {type(dtype).__name__}")
    dtypes = list(dtype)
    wrong = next((kind for kind in dtypes if not isinstance(kind, torch.dtype)), None)
    if wrong is not None:
        raise TypeError(f"dtype must hold torch.dtype values, got {type(wrong).__name__}")
    if len(dtypes) != count:
        raise ValueError(f"dtype gives {len(dtypes)} dtypes for {count} shapes of input_shape; the numbers must match")
    return dtypes


def _device(module: nn.Module, device: Any) -> torch.device:
    if device is None:
        return torch.device(_inferred(module, "device", torch.device("cpu")))
    if not isinstance(device, str | torch.device):
        raise TypeError(f"device must be a string or a torch.device, got {type(device).__name__}")
    try:
        return torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device must name a torch device such as 'cpu', 'cuda:0' or 'meta': {error}") from error


def _inferred(module: nn.Module, attribute: str, default: Any) -> Any:
    first = next(chain(module.parameters(), module.buffers()), None)
    return default if first is None else getattr(first, attribute)


def _generate(shape: Shape, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    # Ones advance no generator and are valid for every dtype; integers are zero, a valid index into any table.
    is_integer = not (dtype.is_floating_point or dtype.is_complex or dtype is torch.bool)
    return (torch.zeros if is_integer else torch.ones)((1, *shape), dtype=dtype, device=device)
