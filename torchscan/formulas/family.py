"""A family of module types that share one formula, and the words that the documentation prints about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import nn

from torchscan.formulas.handler import ChangedBoundary, ModuleCall, ModuleEstimates, ModuleHandler, UnsupportedCall

Formula = Callable[[ModuleCall], ModuleEstimates]


WORK_METRICS = ("module_flops", "macs", "dmas")
"""What a formula counts, besides the receptive field."""

NO_FIELD = "none"
"""How ``Family.spatial`` begins where no call of the family has a receptive field."""

REAL = "real dense floating tensors"
"""The boundary of nearly every formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One formula, where it applies, and what it counts in words. The documentation's table is made of these rows.

    Attributes:
        group: heading under which the documentation lists the family.
        types: module types that compute it, as far as the installed torch has them.
        estimate: the formula.
        flops, macs, dmas, spatial: what is counted, in words; ``spatial`` is about the receptive field.
        boundary: calls that have no estimate.
        subtree_metrics: metrics for which the module owns all the work of its subtree.
        exact: subclasses never inherit the formula, not even those that keep the forward.
        methods: what a subclass must not override, besides ``forward``, to inherit the formula.
        cacheable: the estimate is a function of the module's configuration and of the shapes and dtypes of the call.
        handler: the formula behind a guard against a ``forward`` set on the instance.
        originals: what each type computes with, as it was when this was imported: a type may be patched later.
    """

    group: str
    types: tuple[type[nn.Module], ...]
    estimate: Formula
    flops: str
    macs: str
    dmas: str
    spatial: str
    boundary: str = REAL
    subtree_metrics: frozenset[str] = frozenset()
    exact: bool = False
    methods: tuple[str, ...] = ()
    cacheable: bool = True
    handler: ModuleHandler = field(init=False)
    originals: Mapping[type[nn.Module], tuple[object, ...]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "handler", ModuleHandler(self._guarded, self.subtree_metrics))
        object.__setattr__(self, "originals", {kind: self._methods_of(kind) for kind in self.types})

    @property
    def has_field(self) -> bool:
        """Say whether some call of the family has a receptive field."""
        return not self.spatial.startswith(NO_FIELD)

    def describes(self, kind: type[nn.Module], base: type[nn.Module]) -> bool:
        """Say whether ``kind``, which derives from ``base`` of this family, still computes what the formula counts."""
        return (kind is base or not self.exact) and self._methods_of(kind) == self.originals[base]

    def _methods_of(self, kind: type[nn.Module]) -> tuple[object, ...]:
        return tuple(getattr(kind, name, None) for name in ("forward", *self.methods))

    def _guarded(self, call: ModuleCall) -> ModuleEstimates:
        if "forward" in call.module.__dict__:
            raise (ChangedBoundary if self.exact else UnsupportedCall)(
                "a forward set on the instance replaces the one that the formula describes"
            )
        if _transform() is not None:
            raise UnsupportedCall(
                "a torch.func transform hides axes of the tensors, so their shapes do not say the work"
            )
        try:
            return self.estimate(call)
        except UnsupportedCall as unsupported:
            if unsupported.metrics or self.has_field:
                raise
            # No call of this family has a receptive field, so none is missing from this one.
            raise type(unsupported)(str(unsupported), *WORK_METRICS) from None


def nn_types(*names: str) -> tuple[type[nn.Module], ...]:
    """Look up ``torch.nn`` types by name; those that the installed torch lacks are left out."""
    return tuple(getattr(nn, name) for name in names if hasattr(nn, name))


# The only sign of vmap or grad, under which a module sees a part of each shape; there since torch 2.0, about 0.1 µs.
_transform: Callable[[], object | None] = torch._C._functorch.peek_interpreter_stack
