"""Operator FLOPs of one call of a workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch.nn import Module

from torchscan.operators.counter import Formulas, OperatorCounter
from torchscan.operators.labels import ModuleLabels
from torchscan.report.flops import FlopReport


def measure_flops(
    workload: Callable[[], Any],
    *,
    modules: Module | list[Module] | None = None,
    custom_mapping: Mapping[Any, Callable[..., int | float]] | None = None,
    formulas: Formulas = "native",
) -> FlopReport:
    """Measure workload FLOPs with PyTorch's native operator formulas, or with ours filling the gaps.

    Args:
        workload: zero-argument callable, invoked exactly once inside the counter.
        modules: module or modules whose submodules label ``by_module``, as far as their forwards run.
        custom_mapping: formulas by operator packet, ``f(*shapes, out_shape=..., **kwargs)``; they come first.
        formulas: ``native`` is PyTorch's registry; ``extended`` adds torchscan's own table.

    Raises:
        TypeError: an argument of the wrong type; raised before the workload runs.
        ValueError: an unknown ``formulas``; raised before the workload runs.
        NotImplementedError: the installed PyTorch exposes no operator formulas.
        Exception: whatever the workload raises, unchanged.
    """
    if not callable(workload):
        raise TypeError(f"workload must be a callable without arguments, got {type(workload).__name__}")
    counter = OperatorCounter(formulas=formulas, custom_mapping=custom_mapping)
    with ModuleLabels(_listed(modules), counter) as labels, counter:
        workload()
    return counter.report(labels.counts)


def _listed(modules: Module | list[Module] | None) -> list[Module]:
    if modules is None:
        return []
    if isinstance(modules, Module):
        return [modules]
    given: Any = modules  # whatever a caller without a type checker passed
    if not isinstance(given, list | tuple) or not all(isinstance(module, Module) for module in given):
        raise TypeError(f"modules must be a torch.nn.Module, a list of them, or None; got {type(given).__name__}")
    return list(given)
