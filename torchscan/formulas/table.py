"""The one table of built-in module formulas, and the search through it; a caller's handlers are laid over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from torch import nn

from torchscan.formulas import (
    activations,
    attention,
    class_losses,
    convolution,
    distance_losses,
    embedding,
    folding,
    linear,
    losses,
    movement,
    normalization,
    parametrization,
    pooling,
    recurrent,
    resampling,
    similarity,
    softmax,
    transformer,
)
from torchscan.formulas.family import Family
from torchscan.formulas.handler import ModuleHandler

FAMILIES: tuple[Family, ...] = (
    *linear.FAMILIES,
    *convolution.FAMILIES,
    *pooling.FAMILIES,
    *normalization.FAMILIES,
    *activations.FAMILIES,
    *softmax.FAMILIES,
    *embedding.FAMILIES,
    *movement.FAMILIES,
    *resampling.FAMILIES,
    *folding.FAMILIES,
    *similarity.FAMILIES,
    *recurrent.FAMILIES,
    *attention.FAMILIES,
    *transformer.FAMILIES,
    *losses.FAMILIES,
    *class_losses.FAMILIES,
    *distance_losses.FAMILIES,
    *parametrization.FAMILIES,
)

BUILTIN: Mapping[type[nn.Module], Family] = MappingProxyType(
    {kind: family for family in FAMILIES for kind in family.types}
)


@dataclass(frozen=True, slots=True)
class Match:
    """The handler for a module type.

    Attributes:
        handler: what estimates the call.
        is_custom: the handler is the caller's.
        type: the registered type that matched: ``kind`` itself or one of its bases.
        cacheable: equal configuration, shapes and dtypes give an equal estimate. Never true for a caller's handler.
    """

    handler: ModuleHandler
    is_custom: bool
    type: type[nn.Module]
    cacheable: bool = False


def atomic_base(kind: type[nn.Module]) -> str | None:
    """Name the native type that owns its subtree and that ``kind`` derives from without being it; None for others."""
    bases = (base for base in kind.__mro__[1:] if base in BUILTIN)
    return next((base.__name__ for base in bases if BUILTIN[base].exact and kind not in BUILTIN), None)


def handler_for(kind: type[nn.Module], custom: Mapping[type[nn.Module], ModuleHandler]) -> Match | None:
    """Find the handler of a module type: the caller's first, even on a base class, then the built-in formula.

    The closest class in the MRO wins; virtual subclasses do not match. A subclass inherits a built-in formula only
    while it computes what its base computes: one with its own forward has none; native attention needs exact types.
    """
    for base in kind.__mro__ if custom else ():
        if base in custom:
            return Match(custom[base], True, base)
    for base in kind.__mro__:
        family = BUILTIN.get(base)
        if family is not None:
            return Match(family.handler, False, base, family.cacheable) if family.describes(kind, base) else None
    return None
