"""Nested tensors that PyTorch makes on the way: an evaluation encoder packs a padded batch, which counts as padded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from torchscan.operators.tensors import Provenance

_COUNTED_DENSE = frozenset({"aten._transformer_encoder_layer_fwd", "aten._native_multi_head_attention"})
MAKER = "aten._nested_tensor_from_mask"


def dense_arguments(name: str, args: tuple[Any, ...], past: Provenance) -> tuple[Any, ...] | None:
    """Put a padded stand-in, without storage, in place of each nested argument; None when that is not justified."""
    if name not in _COUNTED_DENSE:
        return None
    dense: list[Any] = []
    for value in args:
        if isinstance(value, Tensor) and value.is_nested:
            shape = past.dense_shape(value)
            if shape is None:
                return None
            dense.append(torch.empty(shape, dtype=value.dtype, device="meta"))
        else:
            dense.append(value)
    return tuple(dense)


def run_maker(counter: Any, entry: Any, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Pack a padded batch, and remember the shape that it had."""
    output = func(*args, **kwargs)
    entry.calls += 1
    counter.current.moves = True
    counter.past.note_nested(args[0], output)
    return output
