"""What the tensors of one operator call are made of: that decides whether a formula for real arithmetic applies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import Parameter

INTEGER, REAL, COMPLEX, OPAQUE = range(4)
"""Ordered by precedence: one opaque tensor (sparse, nested, quantized) makes the whole call opaque."""

_NUMBERS = {
    **dict.fromkeys((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool), INTEGER),
    **dict.fromkeys((torch.float16, torch.bfloat16, torch.float32, torch.float64), REAL),
    **dict.fromkeys((torch.complex32, torch.complex64, torch.complex128), COMPLEX),
}
_NUMBERS.update(
    (getattr(torch, name), number)
    for number, names in (
        (REAL, ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")),
        (INTEGER, ("uint16", "uint32", "uint64")),
    )
    for name in names
    if hasattr(torch, name)  # the dtypes that torch gained after 2.1
)
_DENSE_LAYOUTS = frozenset({torch.strided, torch._mkldnn})  # type: ignore[attr-defined] # a layout torch does not stub
_PLAIN = frozenset({Tensor, Parameter})
_CONTAINERS = frozenset({list, tuple})
_OPAQUE_MODULES = ("torch.sparse", "torch.masked", "torch.nested", "torchao")


def kind_of(values: Iterable[Any]) -> int:
    """Give the highest kind among the tensors in ``values``, lists included; INTEGER when there is none.

    Runs once per counted operator, so the usual types are told apart by identity.
    """
    kind = INTEGER
    for value in values:
        own_type = type(value)
        if own_type in _PLAIN or isinstance(value, Tensor):
            if value.layout not in _DENSE_LAYOUTS or value.is_nested:
                return OPAQUE
            own = _NUMBERS.get(value.dtype, OPAQUE)
        elif own_type in _CONTAINERS:
            own = kind_of(value)
        elif own_type is complex:
            own = COMPLEX
        else:
            continue
        if own > kind:
            kind = own
    return kind


def is_opaque_type(kind: type) -> bool:
    """Say whether a tensor subclass stands for values that its shape does not describe."""
    return any(kind.__module__ == module or kind.__module__.startswith(f"{module}.") for module in _OPAQUE_MODULES)


def is_meta(value: Any) -> bool:
    """Say whether a value is a tensor without storage, whose numbers cannot be read."""
    return isinstance(value, Tensor) and (value.device.type == "meta" or type(value).__name__ == "FakeTensor")


def tensors_of(values: Iterable[Any]) -> list[Tensor]:
    """Give the tensors in ``values``, lists included, in order."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(tensors_of(value))
    return found


class Provenance:
    """Remembers which complex and nested tensors were made during the run, as opposed to supplied by the caller.

    Complex memory is known by its storage, held weakly so that its address cannot be reused while it is remembered:
    views and saved tensors share it. A nested tensor is known by the sizes of its components.
    """

    def __init__(self) -> None:
        self.has_complex = False
        self._storages: dict[int, StorageWeakRef] = {}
        self._dense_shapes: dict[tuple[int, ...], tuple[int, ...]] = {}

    def note_complex(self, inputs: Iterable[Any], output: Any) -> None:
        """Remember the complex outputs of an operator whose complex inputs are known.

        Without any tensor among its inputs it is a factory: its numbers are the caller's.
        """
        made = [tensor for tensor in tensors_of((output,)) if tensor.is_complex()]
        sources = tensors_of(inputs) if made else []
        if sources and self.is_made_here(sources):
            self.has_complex = True
            for tensor in made:
                reference = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call] # torch's
                self._storages[reference.cdata] = reference

    def are_made_here(self, inputs: Iterable[Any]) -> bool:
        """Say whether there are complex tensors among the inputs and all of them were made during the run."""
        sources = [tensor for tensor in tensors_of(inputs) if tensor.is_complex()]
        return bool(sources) and self.is_made_here(sources)

    def is_made_here(self, inputs: Iterable[Any]) -> bool:
        """Say whether no complex tensor among the inputs came from outside."""
        try:
            return all(
                tensor.untyped_storage()._cdata in self._storages
                for tensor in tensors_of(inputs)
                if tensor.is_complex()
            )
        except (NotImplementedError, RuntimeError):  # a wrapper subclass owns no storage of its own
            return False

    def note_nested(self, dense: Tensor, nested: Tensor) -> None:
        """Remember that ``nested`` was packed out of ``dense``."""
        self._dense_shapes[_component_sizes(nested)] = tuple(dense.shape)

    def dense_shape(self, nested: Tensor) -> tuple[int, ...] | None:
        """Give the padded shape of a nested tensor made during the run; None for one that came from outside."""
        padded = self._dense_shapes.get(_component_sizes(nested))
        return None if padded is None else (*padded[:-1], nested.size(-1))


def _component_sizes(nested: Tensor) -> tuple[int, ...]:
    return tuple(int(size) for size in nested._nested_tensor_size()[:, 0].tolist())
