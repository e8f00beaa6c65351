"""One module call, observed and estimated by the built-in formula: what most tests of formulas start from."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchscan.formulas.handler import ModuleCall, ModuleEstimates
from torchscan.formulas.receptive import Field, local_field
from torchscan.formulas.table import handler_for


def called(module: nn.Module, *args: Any, **kwargs: Any) -> ModuleCall:
    """Run the module once without gradients, in the mode that it is in."""
    with torch.no_grad():
        return ModuleCall(module, args, kwargs, module(*args, **kwargs))


def estimate(module: nn.Module, *args: Any, **kwargs: Any) -> ModuleEstimates:
    """Estimate one call by the built-in formula."""
    match = handler_for(type(module), {})
    assert match is not None
    return match.handler.estimate(called(module, *args, **kwargs))


def work(module: nn.Module, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
    """Give (module FLOPs, MACs, DMAs) of one evaluation call."""
    estimates = estimate(module.eval(), *args, **kwargs)
    return estimates["module_flops"], estimates["macs"], estimates["dmas"]


def field(module: nn.Module, *args: Any, **kwargs: Any) -> Field | None:
    """Give the receptive field of one evaluation call."""
    return local_field(estimate(module.eval(), *args, **kwargs))
