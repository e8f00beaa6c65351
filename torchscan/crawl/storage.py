"""Parameters and buffers: every storage counts once, whoever holds it and however often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchscan.crawl.packed import packed_tensors

_PLAIN = (torch.Tensor, nn.Parameter)


class StorageCount(NamedTuple):
    """What some modules hold.

    Attributes:
        is_complete: every parameter and buffer has a shape and can be looked at.
        is_known: at least one of them could be counted, or there is none.
        local_parameters: elements on this rank when a parameter is sharded, else None.
    """

    parameters: int
    trainable_parameters: int
    parameter_bytes: int
    buffer_elements: int
    buffer_bytes: int
    is_complete: bool
    is_known: bool
    local_parameters: int | None

    @property
    def frozen_parameters(self) -> int:
        return self.parameters - self.trainable_parameters


_Holding = tuple[torch.Tensor, int, int, bool]
"""A tensor that a module holds: itself, its elements, bytes of one element, and whether it is trained."""


class _Inventory:
    """Tensors by the storage that they lie on, whoever holds them."""

    __slots__ = ("alone", "missing", "together")

    def __init__(self) -> None:
        self.alone: dict[int, _Holding] = {}
        self.together: dict[int, list[_Holding]] = {}
        self.missing = 0

    def add(self, tensors: Iterable[torch.Tensor | None]) -> tuple[int, int, int, int]:
        """Enter one module's tensors; give their elements, trainable elements, bytes, and how many have no shape."""
        elements = trainable = size = missing = 0
        alone = self.alone
        for tensor in tensors:
            if tensor is None:
                continue
            if type(tensor) not in _PLAIN and is_lazy(tensor):
                missing += 1
                continue
            try:
                storage = tensor.untyped_storage()._cdata
            except (NotImplementedError, RuntimeError):
                storage = id(tensor)  # sparse and wrapper tensors have no storage of their own
            count, item_bytes, is_trainable = tensor.numel(), tensor.element_size(), tensor.requires_grad
            if storage in alone:
                self.together.setdefault(storage, [alone[storage]]).append((tensor, count, item_bytes, is_trainable))
            else:
                alone[storage] = tensor, count, item_bytes, is_trainable
            elements += count
            size += count * item_bytes
            if is_trainable:
                trainable += count
        self.missing += missing
        return elements, trainable, size, missing

    def totals(self) -> tuple[int, int, int]:
        """Give elements, trainable elements and bytes, each storage once."""
        elements = trainable = size = 0
        for storage, (_, covered, item_bytes, is_trainable) in self.alone.items():
            if storage in self.together:
                covered, is_trainable = _union(self.together[storage])  # noqa: PLW2901 # what they cover together
            elements += covered
            size += covered * item_bytes
            if is_trainable:
                trainable += covered
        return elements, trainable, size


class Storages:
    """Counts module by module, and all of them together."""

    __slots__ = ("_buffers", "_own", "_packed", "_parameters")

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        self._parameters = _Inventory()
        self._buffers = _Inventory()
        self._packed = 0
        self._own = {id(module): self._enter(module) for module in modules}

    def of(self, module: nn.Module) -> StorageCount:
        """Give what one of the modules holds directly."""
        return self._own[id(module)]

    def total(self) -> StorageCount:
        """Count all of them together; what several modules share counts once."""
        parameters, buffers = self._parameters.totals(), self._buffers.totals()
        is_complete = not (self._parameters.missing or self._buffers.missing or self._packed)
        is_known = is_complete or bool(self._parameters.alone or self._buffers.alone)
        return StorageCount(*parameters, buffers[0], buffers[2], is_complete, is_known, self._local_parameters())

    def tensors(self) -> list[torch.Tensor]:
        """List one tensor of each storage."""
        return [holding[0] for held in (self._parameters, self._buffers) for holding in held.alone.values()]

    def _enter(self, module: nn.Module) -> StorageCount:
        packed = packed_tensors(module)
        if packed is None:
            self._packed += 1
        held: Any = module._parameters  # a scripted module has its own kind of mapping
        elements, trainable, size, missing = self._parameters.add(
            [*packed, *held.values()] if packed else held.values()
        )
        held = module._buffers
        buffer_elements, _, buffer_bytes, missing_buffers = self._buffers.add(held.values())
        is_complete = not (missing or missing_buffers or packed is None)
        is_known = is_complete or bool(elements or buffer_elements)
        return StorageCount(elements, trainable, size, buffer_elements, buffer_bytes, is_complete, is_known, None)

    def _local_parameters(self) -> int | None:
        """Elements on this rank: None unless a parameter is sharded."""
        held = [holding for holding in self._parameters.alone.values() if type(holding[0]) not in _PLAIN]
        if not any(hasattr(holding[0], "to_local") for holding in held):
            return None
        away = sum(holding[1] - _local_elements(holding[0]) for holding in held)
        return self._parameters.totals()[0] - away


def _union(group: list[_Holding]) -> tuple[int, bool]:
    """Count the elements that tensors on one storage cover, never more than their own; say whether one is trained."""
    distinct = {id(holding[0]): holding for holding in group}.values()
    covered = _covered(_span(holding[0]) for holding in distinct)
    return min(covered, sum(holding[1] for holding in distinct)), any(holding[3] for holding in distinct)


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """First and one past the last element offset in the storage."""
    if not tensor.numel():
        return (0, 0)
    first = int(tensor.storage_offset())
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return first, first + int(reach) + 1


def _covered(spans: Iterable[tuple[int, int]]) -> int:
    covered = end = 0
    for first, last in sorted(spans):
        covered += max(0, last - max(first, end))
        end = max(end, last)
    return covered


def _local_elements(tensor: torch.Tensor) -> int:
    to_local = getattr(tensor, "to_local", None)
    return int(to_local().numel()) if callable(to_local) else tensor.numel()
