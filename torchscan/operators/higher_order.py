"""Operators that take functions: counted by what their executed branches dispatch, or by PyTorch's own formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from torch._ops import HigherOrderOperator
from torch.nn import Module
from torch.utils._pytree import tree_map

from torchscan.operators.entry import Entry
from torchscan.operators.native import native_cost

_RUN_BY_PIECES = frozenset(
    {
        "cond", "while_loop", "while_loop_stack_output", "scan", "associative_scan", "map_impl", "invoke_subgraph",
        "strict_mode", "hints_wrapper", "local_map_hop", "wrap", "wrap_with_set_grad_enabled", "wrap_with_autocast",
        "wrap_activation_checkpoint", "tag_activation_checkpoint", "dynamo_bypassing_wrapper",
    }
)  # fmt: skip


def higher_order_entry(func: HigherOrderOperator, registry: Mapping[Any, Any]) -> Entry:
    """Describe a higher-order operator: PyTorch's formula when it has one (flex attention), else its own pieces."""
    name = f"higher_order.{func}"
    formula = registry.get(func)
    if formula is not None:
        return Entry(name, cost=native_cost(formula), is_native_product=True)
    return Entry(name, run=_run_pieces if str(func) in _RUN_BY_PIECES else None)


def _run_pieces(counter: Any, entry: Entry, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ARG001 # the contract of every run
    """Run the operator itself uncounted and the functions that it calls counted: only executed work counts."""

    def counted(value: Any) -> Any:
        return _inside(counter, value) if isinstance(value, FunctionType | MethodType | partial | Module) else value

    counted_args, counted_kwargs = tree_map(counted, (args, dict(kwargs)))
    return func(*counted_args, **counted_kwargs)


def _inside(counter: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with counter.resumed():
            return function(*args, **kwargs)

    return run
