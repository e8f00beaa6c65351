"""Parameters and buffers: every storage counts once, whoever holds it and however often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchscan.crawl.packed import packed_tensors


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
    is_complete: bool = True
    is_known: bool = True
    local_parameters: int | None = None

    @property
    def frozen_parameters(self) -> int:
        return self.parameters - self.trainable_parameters


class Region:
    """The part of one storage that tensors cover: usually one tensor, all of it."""

    __slots__ = ("elements", "is_trainable", "item_bytes", "local_elements", "spans")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.elements = tensor.numel()
        self.item_bytes = tensor.element_size()
        self.is_trainable = tensor.requires_grad
        self.local_elements = _local_elements(tensor)
        self.spans: list[tuple[int, int]] | None = None

    def add(self, first: torch.Tensor, tensor: torch.Tensor) -> None:
        """Take in one more tensor on the storage: the union of the spans counts, never more than all elements."""
        self.is_trainable |= tensor.requires_grad
        spans = self.spans if self.spans is not None else [_span(first)]
        if _span(tensor) not in spans:
            spans.append(_span(tensor))
            self.elements = min(self.elements + tensor.numel(), _covered(spans))
        self.spans = spans


class Inventory:
    """Distinct storages of the parameters, or of the buffers, of some modules."""

    __slots__ = ("_firsts", "_seen", "regions")

    def __init__(self) -> None:
        self.regions: dict[int, Region] = {}
        self._firsts: dict[int, torch.Tensor] = {}
        self._seen: set[int] = set()

    def add(self, tensor: torch.Tensor) -> None:
        """Enter a tensor; one that was entered before, or shares a storage, adds only what it alone covers."""
        if id(tensor) in self._seen:
            return
        self._seen.add(id(tensor))
        key = _storage_key(tensor)
        region = self.regions.get(key)
        if region is None:
            self.regions[key] = Region(tensor)
            self._firsts[key] = tensor
        else:
            region.add(self._firsts[key], tensor)


def count_storage(modules: Iterable[nn.Module]) -> StorageCount:
    """Count the parameters and buffers that the modules hold directly."""
    parameters, buffers = Inventory(), Inventory()
    missing = 0
    for module in modules:
        missing += _enter(module._parameters, parameters) + _enter(module._buffers, buffers)
        packed = packed_tensors(module)
        missing += packed is None
        for tensor in packed or ():
            parameters.add(tensor)
    held = parameters.regions.values()
    local = sum(region.local_elements for region in held)
    total = sum(region.elements for region in held)
    is_sharded = any(region.local_elements != region.elements and region.spans is None for region in held)
    return StorageCount(
        parameters=total,
        trainable_parameters=sum(region.elements for region in held if region.is_trainable),
        parameter_bytes=sum(region.elements * region.item_bytes for region in held),
        buffer_elements=sum(region.elements for region in buffers.regions.values()),
        buffer_bytes=sum(region.elements * region.item_bytes for region in buffers.regions.values()),
        is_complete=not missing,
        is_known=not missing or bool(parameters.regions or buffers.regions),
        local_parameters=local if is_sharded else None,
    )


def tensors_of(modules: Iterable[nn.Module]) -> list[torch.Tensor]:
    """List the parameters and buffers that the modules hold directly, as often as they are held."""
    return [
        tensor
        for module in modules
        for tensors in (module._parameters, module._buffers)
        for tensor in tensors.values()
        if tensor is not None
    ]


def _enter(tensors: Mapping[str, torch.Tensor | None], inventory: Inventory) -> int:
    """Enter the tensors that have a shape; give the number of those that have none yet."""
    missing = 0
    for tensor in tensors.values():
        if tensor is None:
            continue
        if is_lazy(tensor):
            missing += 1
        else:
            inventory.add(tensor)
    return missing


def _storage_key(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return id(tensor)  # sparse and wrapper tensors have no storage of their own


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
    """Elements on this rank: fewer than the tensor's own for a sharded parameter."""
    to_local = getattr(tensor, "to_local", None)
    return int(to_local().numel()) if callable(to_local) else tensor.numel()
