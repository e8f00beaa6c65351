"""What tells two modules of one type apart for a formula, so that equal ones are estimated once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from torch import nn
from torch.nn.parameter import is_lazy

_VALUES = frozenset({bool, int, float, str, type(None)})


def configuration(module: nn.Module) -> Hashable:
    """Give a leaf module's type, public settings and tensor shapes; None where they are not all that there is to it."""
    if len(module._modules):
        return None
    settings: list[Any] = [type(module)]
    for name, value in vars(module).items():
        if name[0] != "_":
            if type(value) not in _VALUES and not (type(value) is tuple and _VALUES.issuperset(map(type, value))):
                return None
            settings.append((name, value))
    for tensors in (module._parameters, module._buffers):
        for name, tensor in tensors.items():
            if tensor is None or is_lazy(tensor):
                settings.append((name, None))
            else:
                settings.append((name, tensor.shape, tensor.dtype, tensor.layout))
    return tuple(settings)
