"""Nested tensors that PyTorch makes on the way: an evaluation encoder packs a padded batch, which counts as padded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from torchscan.operators.call import Call
from torchscan.operators.tensors import OPAQUE, Provenance, kind_of

# What an encoder layer computes of a packed batch: whole, or piece by piece where its fused kernel is not taken.
_COUNTED_DENSE = frozenset(
    {
        "aten._transformer_encoder_layer_fwd",
        "aten._native_multi_head_attention",
        "aten.linear",
        "aten.native_layer_norm",
        "aten.native_dropout",
        "aten.add",
        "aten.add_",
        "aten.relu",
        "aten.relu_",
        "aten.gelu",
    }
)
MAKER = "aten._nested_tensor_from_mask"


def dense_call(name: str, call: Call, past: Provenance) -> Call | None:
    """Put a padded stand-in, without storage, in place of each nested tensor; None when that is not justified."""
    if name not in _COUNTED_DENSE:
        return None
    try:
        dense = Call(_dense(call.args, past), call.kwargs, _dense(call.output, past))
    except _UnknownNestedTensor:
        return None
    return None if kind_of(dense.args) == OPAQUE else dense


class _UnknownNestedTensor(Exception):  # noqa: N818 # a signal between the two functions here
    """A nested tensor that came from outside."""


def _dense(value: Any, past: Provenance) -> Any:
    if isinstance(value, tuple):
        return tuple(_dense(part, past) for part in value)
    if not isinstance(value, Tensor) or not value.is_nested:
        return value
    # The maker packs strided nested tensors; a jagged one is always the caller's.
    shape = past.dense_shape(value) if value.layout is torch.strided else None
    if shape is None:
        raise _UnknownNestedTensor
    return torch.empty(shape, dtype=value.dtype, device="meta")


def run_maker(counter: Any, entry: Any, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Pack a padded batch, and remember the shape that it had."""
    output = func(*args, **kwargs)
    entry.calls += 1
    counter.current.moves = True
    counter.past.note_nested(args[0], output)
    return output
