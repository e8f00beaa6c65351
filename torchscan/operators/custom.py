"""The caller's own operator formulas: checked before anything runs, called by PyTorch's shape-based contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

from torch import Tensor
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket
from torch.utils._pytree import tree_map

from torchscan.operators.call import Call
from torchscan.operators.formula import Cost, Count


class InvalidCountError(ValueError):
    """A formula returned something that is not a finite, non-negative number."""


def check_custom_mapping(
    mapping: Mapping[Any, Callable[..., Count]] | None,
) -> Mapping[Any, Callable[..., Count]]:
    """Give a frozen copy of the caller's mapping from operator packets to formulas.

    Raises:
        TypeError: not a mapping, a key that is no operator packet, or a formula that cannot be called.
    """
    if mapping is None:
        return MappingProxyType({})
    if not isinstance(mapping, Mapping):
        raise TypeError(f"custom_mapping must map operator packets to formulas, got {type(mapping).__name__}")
    for operator, formula in mapping.items():
        if isinstance(operator, OpOverload):
            raise TypeError(
                f"custom_mapping takes operator packets: use torch.ops.{operator._schema.name.replace('::', '.')}, "
                f"not the overload {operator}"
            )
        if not isinstance(operator, OpOverloadPacket | HigherOrderOperator):
            raise TypeError(
                f"custom_mapping keys are operator packets such as torch.ops.aten.sin, got {operator!r} "
                f"of type {type(operator).__name__}"
            )
        if not callable(formula):
            raise TypeError(f"custom_mapping[{operator}] must be callable, got {type(formula).__name__}")
    return MappingProxyType(dict(mapping))


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, Tensor) else value


def by_shape(formula: Callable[..., Count]) -> Cost:
    """Adapt a formula ``f(*shapes, out_shape=..., **kwargs)``; one marked ``_get_raw`` receives the tensors."""
    if getattr(formula, "_get_raw", False):

        def raw(call: Call) -> Count:
            return checked(formula(*call.args, out_val=call.output, **call.kwargs))

        return raw

    def shaped(call: Call) -> Count:
        shapes, named, out_shape = tree_map(_shape, (call.args, dict(call.kwargs), call.output))
        return checked(formula(*shapes, out_shape=out_shape, **named))

    return shaped


def checked(count: Any) -> Count:
    """Give the count when it is a number that a report can hold.

    Raises:
        InvalidCountError: it is not.
    """
    if isinstance(count, bool) or not isinstance(count, int | float) or not isfinite(count) or count < 0:
        raise InvalidCountError(f"returned {count!r}; a formula must return a finite number, 0 or more")
    return count
