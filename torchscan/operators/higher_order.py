"""Operators that take functions: counted by what their executed branches dispatch, or by PyTorch's own formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch._C import DispatchKey
from torch._ops import HigherOrderOperator

from torchscan.operators.entry import Entry
from torchscan.operators.native import native_cost


def higher_order_entry(func: HigherOrderOperator, registry: Mapping[Any, Any]) -> Entry:
    """Describe a higher-order operator: PyTorch's formula when it has one (flex attention), else its own pieces."""
    name = f"higher_order.{func}"
    formula = registry.get(func)
    if formula is not None:
        return Entry(name, cost=native_cost(formula), is_native_product=True)
    if DispatchKey.CompositeExplicitAutograd in func.py_kernels:
        return Entry(name, run=_run_pieces)
    return Entry(name)


def _run_pieces(counter: Any, entry: Entry, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ARG001 # the contract of every run
    """Run the eager implementation with the counter active, so that only executed work counts."""
    with counter:
        return func.py_kernels[DispatchKey.CompositeExplicitAutograd](*args, **kwargs)
