"""Weights that a module keeps outside ``parameters()``: quantized layers pack theirs into an opaque object."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes

_UNPACKED = "torch.nn.modules."
"""Types defined below this hold all their weights as parameters and buffers."""


def packed_tensors(module: nn.Module) -> list[torch.Tensor] | tuple[()] | None:
    """Unpack the weights that a module itself packs.

    Returns:
        The logical tensors, none when it packs none, None when it packs some that cannot be unpacked.
    """
    if type(module).__module__.startswith(_UNPACKED) or isinstance(module, torch.jit.ScriptModule):
        return ()
    if not any(isinstance(value, torch.ScriptObject) for value in vars(module).values()):
        return ()
    unpack: Callable[[], tuple[torch.Tensor | None, ...]] | None = getattr(module, "_weight_bias", None)
    if unpack is None:
        return None
    try:
        with _disable_current_modes(), warnings.catch_warnings():  # a packed weight is real under fake tensors too
            warnings.simplefilter("ignore")  # torch deprecates quantized types; counting them is no use of them
            return [tensor for tensor in unpack() if tensor is not None]
    except Exception:  # noqa: BLE001 # a packed format of its own: named as not countable, never guessed
        return None
