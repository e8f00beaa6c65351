"""The tensors of a call, checked: a formula speaks of real dense tensors and of nothing else."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor

from torchscan.formulas.handler import MissingTensor, ModuleCall, UnsupportedCall

_DTYPES = frozenset(value for value in vars(torch).values() if isinstance(value, torch.dtype))
FLOATING = frozenset(dtype for dtype in _DTYPES if dtype.is_floating_point)
INTEGRAL = frozenset({torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}) | {
    getattr(torch, name) for name in ("uint16", "uint32", "uint64") if hasattr(torch, name)
}


def argument(call: ModuleCall, position: int, name: str, default: Any = None) -> Any:
    """Give the argument at ``position``, else the one passed by ``name``, else ``default``."""
    return call.args[position] if len(call.args) > position else call.kwargs.get(name, default)


def module_of(call: ModuleCall) -> Any:
    """Give the module with its own type's attributes, which nn.Module does not declare."""
    return call.module


def operand(call: ModuleCall, name: str = "input", position: int = 0) -> Tensor:
    """Give a tensor argument. Raises UnsupportedCall when it is not a real dense floating tensor."""
    args = call.args
    return floating(args[position] if len(args) > position else call.kwargs.get(name), name)


def result(call: ModuleCall) -> Tensor:
    """Give the output. Raises UnsupportedCall when it is not a real dense floating tensor."""
    return floating(call.output, "the output")


def floating(value: Any, name: str) -> Tensor:
    """Give ``value`` back if it is a real dense floating tensor, else raise UnsupportedCall."""
    if isinstance(value, Tensor) and value.dtype in FLOATING and value.layout is torch.strided and not value.is_nested:
        return value
    raise _refused(value, name, "real dense floating tensors")


def numeric(value: Any, name: str) -> Tensor:
    """Give ``value`` back if it is a dense tensor of real, integer or boolean numbers, else raise UnsupportedCall."""
    if isinstance(value, Tensor) and value.layout is torch.strided and not value.is_nested:
        dtype = value.dtype
        if dtype in FLOATING or dtype in INTEGRAL:
            return value
    raise _refused(value, name, "dense tensors of real numbers")


def _refused(value: Any, name: str, covered: str) -> UnsupportedCall:
    kind = UnsupportedCall if isinstance(value, Tensor) else MissingTensor
    return kind(f"{name} is {describe(value)}; the formula covers {covered}")


def describe(value: Any) -> str:
    """Name the kind of a value: what a diagnostic says about an argument, never its contents."""
    if not isinstance(value, Tensor):
        return f"a {type(value).__name__}"
    if value.is_nested:
        return "a nested tensor"
    if value.layout is not torch.strided:
        return f"a tensor of layout {value.layout}"
    return f"a tensor of {value.dtype}"


def elements(*tensors: Tensor | None) -> int:
    """Count the elements of the tensors that are there."""
    return sum(tensor.numel() for tensor in tensors if tensor is not None)


def known_values(value: Any, name: str) -> list[int]:
    """Read integers that decide how much work there is. Raises UnsupportedCall where a tensor has no values."""
    if not isinstance(value, Tensor):
        return [int(each) for each in value]
    if not value.is_meta:
        try:
            return [int(each) for each in value.flatten().tolist()]
        except (RuntimeError, AssertionError):  # a fake tensor has shapes and no values
            pass
    raise UnsupportedCall(f"the values of {name} decide the work, and they are not known here")


def broadcast_shape(*tensors: Tensor) -> tuple[int, ...]:
    """Give the common shape of tensors that are combined element by element."""
    axes = zip_longest(*(reversed(tensor.shape) for tensor in tensors), fillvalue=1)
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in axes)[::-1]
