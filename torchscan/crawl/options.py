"""Checks of what a caller asked for, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from torchscan.formulas.handler import ModuleHandler

MODES = ("full", "structure")


def check_options(module: Any, mode: Any, custom_modules: Any) -> None:
    """Check the module, the mode and the caller's handlers.

    Raises:
        TypeError: ``module`` is no module, or ``custom_modules`` does not map module types to handlers.
        ValueError: ``mode`` is unknown.
    """
    if not isinstance(module, nn.Module):
        hint = "; pass an instance, such as Model()" if isinstance(module, type) else ""
        kind = module.__name__ if isinstance(module, type) else type(module).__name__
        raise TypeError(f"module must be a torch.nn.Module, got {kind}{hint}")
    if mode not in MODES:
        raise ValueError(f"mode accepts {', '.join(map(repr, MODES))}; got {mode!r}")
    if custom_modules is None:
        return
    if not isinstance(custom_modules, Mapping):
        raise TypeError(f"custom_modules must map module types to ModuleHandler, got {type(custom_modules).__name__}")
    for kind, handler in custom_modules.items():
        if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
            raise TypeError(f"the keys of custom_modules must be subclasses of torch.nn.Module, got {kind!r}")
        if not isinstance(handler, ModuleHandler):
            raise TypeError(
                f"custom_modules[{kind.__name__}] must be a ModuleHandler, got {type(handler).__name__}; "
                "wrap a callback as ModuleHandler(callback)"
            )
