"""How an operator is counted, decided once for each overload that a run dispatches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch._C import DispatchKey
from torch._ops import HigherOrderOperator

from torchscan.operators import explicit_attention
from torchscan.operators.call import Call
from torchscan.operators.custom import by_shape
from torchscan.operators.entry import Entry
from torchscan.operators.formula import Cost, Formula, Free
from torchscan.operators.higher_order import higher_order_entry
from torchscan.operators.native import is_original, native_cost
from torchscan.operators.nested import MAKER, run_maker
from torchscan.operators.table import row_for
from torchscan.operators.tensors import OPAQUE, kind_of

_COMPLEX_MAKERS = frozenset(
    f"aten.{name}"
    for name in (
        "view_as_complex", "complex", "polar", "_to_copy", "_fft_r2c", "_fft_c2c",
    )
)  # fmt: skip


_RUNS = {
    explicit_attention.SCALE: explicit_attention.run_scale,
    explicit_attention.SOFTMAX: explicit_attention.run_softmax,
}

# Questions about a tensor. Some are composites whose pieces would ask the tensor's class again, so they run as a whole.
_QUESTIONS = frozenset(
    {
        "aten.sym_is_contiguous", "aten.is_contiguous", "aten.is_strides_like_format", "aten.dim", "prim.layout",
        "aten.is_non_overlapping_and_dense", "aten.size", "aten.sym_size", "aten.stride", "aten.sym_stride",
        "aten.storage_offset", "aten.sym_storage_offset", "aten.numel", "aten.sym_numel",
    }
)  # fmt: skip


def resolve(func: Any, formulas: str, custom: Mapping[Any, Any], registry: Mapping[Any, Any]) -> Entry:
    """Describe an operator. The caller's formula comes first, then PyTorch's, then a composite's own pieces, then ours
    (in the native view ours only says what is free, and what the multiply-accumulates are)."""
    if isinstance(func, HigherOrderOperator):
        if func in custom:
            return Entry(f"higher_order.{func}", cost=by_shape(custom[func]), is_callers=True)
        return higher_order_entry(func, registry)
    packet = func._overloadpacket
    name = func._schema.name.replace("::", ".")
    row = row_for(name)
    formula = row if isinstance(row, Formula) else None
    if packet in custom:
        return Entry(name, cost=by_shape(custom[packet]), row=formula, is_callers=True, has_known_macs=row is not None)
    native = registry.get(packet)
    if native is not None and not (formula and formula.is_product and is_original(native)):
        return Entry(name, cost=native_cost(native), row=formula, is_native_product=formula is None)
    if native is None and name not in _QUESTIONS and _is_composite(func):
        free_reason = row.reason if isinstance(row, Free) else None
        whole = formula.flops if formula and formulas == "extended" else None
        return Entry(name, cost=whole, run=_run_pieces, row=formula, free_reason=free_reason)
    if name == MAKER:
        return Entry(name, run=run_maker, free_reason=row.reason if isinstance(row, Free) else None)
    if isinstance(row, Free):
        return Entry(name, free_reason=row.reason, moves=row.moves, makes_complex=name in _COMPLEX_MAKERS)
    run = _RUNS.get(str(func)) if formulas == "extended" else None
    cost: Cost | None = formula.flops if formula and (formulas == "extended" or native is not None) else None
    return Entry(name, cost=cost, row=formula, run=run, makes_complex=name in _COMPLEX_MAKERS)


def _is_composite(func: Any) -> bool:
    """Say whether PyTorch implements an operator by others. Inference mode dispatches such operators whole."""
    try:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"))
    except RuntimeError:  # an overload that exists in TorchScript only
        return False


def _run_pieces(counter: Any, entry: Entry, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run a composite with the counter active, so that its pieces are counted.

    Sparse and nested tensors bring kernels of their own for some composites; those run as they would outside.
    """
    if kind_of(args) == OPAQUE:
        output = func(*args, **kwargs)
        counter.count(entry, Call(args, kwargs, output))
        return output
    with counter.resumed():
        # Not func.decompose: that prefers a Python decomposition, which does other arithmetic than the plain run.
        return func._op_dk(DispatchKey.CompositeImplicitAutograd, *args, **kwargs)
