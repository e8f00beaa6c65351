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


class _Holding(NamedTuple):
    """A tensor that a module holds."""

    tensor: torch.Tensor
    elements: int
    item_bytes: int
    is_trainable: bool


class _Inventory:
    """Tensors by the storage that they lie on, whoever holds them."""

    __slots__ = ("alone", "together")

    def __init__(self) -> None:
        self.alone: dict[int, _Holding] = {}
        self.together: dict[int, list[_Holding]] = {}

    def add(self, tensor: torch.Tensor) -> _Holding:
        """Enter a tensor."""
        try:
            storage = tensor.untyped_storage()._cdata
        except (NotImplementedError, RuntimeError):
            storage = id(tensor)  # sparse and wrapper tensors have no storage of their own
        holding = _Holding(tensor, tensor.numel(), tensor.element_size(), tensor.requires_grad)
        first = self.alone.setdefault(storage, holding)
        if first is not holding:
            self.together.setdefault(storage, [first]).append(holding)
        return holding

    def totals(self) -> tuple[int, int, int]:
        """Give elements, trainable elements and bytes, each storage once."""
        elements = trainable = size = 0
        for storage, holding in self.alone.items():
            covered, is_trainable = holding.elements, holding.is_trainable
            if storage in self.together:
                covered = _union(self.together[storage])
                is_trainable = any(each.is_trainable for each in self.together[storage])
            elements += covered
            size += covered * holding.item_bytes
            trainable += covered * is_trainable
        return elements, trainable, size


class Storages:
    """Counts module by module, and all of them together."""

    __slots__ = ("_buffers", "_missing", "_own", "_parameters")

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        self._parameters = _Inventory()
        self._buffers = _Inventory()
        self._missing = 0
        self._own = {id(module): self._enter(module) for module in modules}

    def of(self, module: nn.Module) -> StorageCount:
        """Give what one of the modules holds directly."""
        return self._own[id(module)]

    def total(self) -> StorageCount:
        """Count all of them together; what several modules share counts once."""
        parameters, buffers = self._parameters.totals(), self._buffers.totals()
        is_known = not self._missing or bool(self._parameters.alone or self._buffers.alone)
        return StorageCount(*parameters, buffers[0], buffers[2], not self._missing, is_known, self._local_parameters())

    def tensors(self) -> list[torch.Tensor]:
        """List one tensor of each storage."""
        return [holding.tensor for held in (self._parameters, self._buffers) for holding in held.alone.values()]

    def _enter(self, module: nn.Module) -> StorageCount:
        packed = packed_tensors(module)
        missing = int(packed is None)
        parameters = [self._parameters.add(tensor) for tensor in packed or ()]
        buffers: list[_Holding] = []
        tensors: Any  # a scripted module has its own kind of mapping
        for tensors, inventory, found in (
            (module._parameters, self._parameters, parameters),
            (module._buffers, self._buffers, buffers),
        ):
            for tensor in tensors.values():
                if tensor is None:
                    continue
                if is_lazy(tensor):
                    missing += 1
                else:
                    found.append(inventory.add(tensor))
        self._missing += missing
        return _own_count(parameters, buffers, missing)

    def _local_parameters(self) -> int | None:
        """Elements on this rank: None unless a parameter is sharded."""
        held = [holding for holding in self._parameters.alone.values() if type(holding.tensor) not in _PLAIN]
        if not any(hasattr(holding.tensor, "to_local") for holding in held):
            return None
        away = sum(holding.elements - _local_elements(holding.tensor) for holding in held)
        return self._parameters.totals()[0] - away


_NOTHING = StorageCount(0, 0, 0, 0, 0, True, True, None)


def _own_count(parameters: list[_Holding], buffers: list[_Holding], missing: int) -> StorageCount:
    """Count what one module holds: tensors of one module rarely share a storage, and then only the total knows."""
    if not parameters and not buffers and not missing:
        return _NOTHING
    elements = trainable = size = buffer_elements = buffer_bytes = 0
    for holding in parameters:
        elements += holding.elements
        size += holding.elements * holding.item_bytes
        if holding.is_trainable:
            trainable += holding.elements
    for holding in buffers:
        buffer_elements += holding.elements
        buffer_bytes += holding.elements * holding.item_bytes
    is_known = not missing or bool(parameters or buffers)
    return StorageCount(elements, trainable, size, buffer_elements, buffer_bytes, not missing, is_known, None)


def _union(group: list[_Holding]) -> int:
    """Count the elements that tensors on one storage cover, never more than their own together."""
    distinct = list({id(holding.tensor): holding for holding in group}.values())
    return min(sum(holding.elements for holding in distinct), _covered(map(_span, distinct)))


def _span(holding: _Holding) -> tuple[int, int]:
    """First and one past the last element offset in the storage."""
    tensor = holding.tensor
    if not holding.elements:
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
