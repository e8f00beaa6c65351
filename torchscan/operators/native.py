"""PyTorch's own registry of operator formulas, whatever form the installed release gives it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from torchscan.operators.call import Call
from torchscan.operators.custom import by_shape
from torchscan.operators.formula import Cost, Count


def native_registry() -> Mapping[Any, Any]:
    """Give PyTorch's live table from operator packet to formula, formulas that the process registered included.

    Raises:
        NotImplementedError: the installed PyTorch exposes no such table.
    """
    counter = import_module("torch.utils.flop_counter")
    for name in ("flop_registry", "flop_mapping"):  # the second is what PyTorch 2.1 calls it
        registry = getattr(counter, name, None)
        if isinstance(registry, Mapping):
            return registry
    raise NotImplementedError("this PyTorch's torch.utils.flop_counter exposes no table of operator formulas")


def native_cost(formula: Any) -> Cost:
    """Adapt a formula of PyTorch's registry."""
    if not _takes_tensors():
        return by_shape(formula)

    def cost(call: Call) -> Count:
        count: Count = formula(*call.args, **call.kwargs, out_val=call.output)
        return count

    return cost


def is_original(formula: Any) -> bool:
    """Say whether a registered formula is the one that PyTorch ships."""
    return getattr(formula, "__module__", None) == "torch.utils.flop_counter"


@cache
def _takes_tensors() -> bool:
    return hasattr(import_module("torch.utils.flop_counter"), "flop_registry")
