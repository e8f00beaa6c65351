"""Which storages are alive on a device, how large they are, and the most that they took at once.

The unit is the storage, not the tensor: views and tied weights share one. A storage enters the ledger when an operator
returns it or receives it, and leaves when its last owner lets it go, so the sum is right after every operator and
includes inputs, outputs and saved activations that are alive together. Scratch space that a kernel takes and frees
inside one operator is not a tensor and is not seen; neither is a buffer that compiled code keeps to itself.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.torch_version import TorchVersion
from torch.utils._python_dispatch import TorchDispatchMode

_PLAIN = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer if hasattr(torch.nn, "Buffer") else torch.nn.Parameter)
_COMPRESSED_PARTS = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}

_TELL_OF_THEIR_END = TorchVersion(torch.__version__) >= "2.2"
"""Whether a weak reference to a storage calls back. On older torch it never does, and dropping it crashes the process:
there the ledger asks, before each operator, which storages are gone."""


class StorageLedger(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch leaves the hook untyped
    """Adds up the live storages of one device while it is active.

    Attributes:
        live_bytes: what is alive now, as far as the ledger has seen it.
        peak_bytes: the largest ``live_bytes`` so far.
    """

    def __init__(self, device_type: str, after_operator: Callable[[], None] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # likewise
        self.live_bytes = 0
        self.peak_bytes = 0
        self._device_type = device_type
        self._after_operator = after_operator
        self._sizes: dict[int, int] = {}
        self._watchers: dict[int, weakref.ref[Any] | StorageWeakRef] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch imports its compiler (about a second) to wrap __torch_dispatch__

    def enter_living(self) -> None:
        """Enter every tensor that Python can reach, and the gradients of leaves, which only C++ may hold."""
        gc.collect()  # dead cycles would count now and vanish in the middle of the call
        for thing in gc.get_objects():
            # type(), not isinstance(): a lazy proxy must not be woken up to be asked what it is
            if issubclass(type(thing), torch.Tensor):
                self.enter(thing)
                if thing.requires_grad and thing.is_leaf and thing.grad is not None:
                    self.enter(thing.grad)

    def enter(self, value: Any) -> None:
        """Enter the storages of a tensor or of a nest of lists, tuples and mappings."""
        for tensor in _tensors(value):
            for part in _parts(tensor):
                self._enter_storage(part)

    def close(self) -> None:
        """Let go of all storages: nothing that dies later concerns this ledger."""
        self._watchers.clear()
        self._sizes.clear()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if any(kind not in _PLAIN for kind in types):
            return NotImplemented  # the subclass unfolds itself first; its inner operators come back here
        if not _TELL_OF_THEIR_END:
            self._bury()
        self.enter(args)
        self.enter(kwargs or {})
        result = func(*args, **(kwargs or {}))
        self.enter(result)
        if self._after_operator is not None:
            self._after_operator()
        return result

    def _enter_storage(self, tensor: torch.Tensor) -> None:
        try:
            storage = tensor.untyped_storage()
            if storage.device.type != self._device_type:
                return
            size = storage.nbytes()
        except (NotImplementedError, RuntimeError):
            return  # a layout without a storage of its own
        key = storage._cdata
        if key not in self._watchers:
            self._watchers[key] = self._watcher(storage, key)
        self.live_bytes += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)

    def _watcher(self, storage: torch.UntypedStorage, key: int) -> weakref.ref[Any] | StorageWeakRef:
        if _TELL_OF_THEIR_END:
            return weakref.ref(storage, lambda _: self._leave(key))
        return StorageWeakRef(storage)  # type: ignore[no-untyped-call] # torch's

    def _bury(self) -> None:
        dead = [key for key, watcher in self._watchers.items() if watcher.expired()]  # type: ignore[union-attr]
        for key in dead:
            self._leave(key)

    def _leave(self, key: int) -> None:
        self._watchers.pop(key, None)
        self.live_bytes -= self._sizes.pop(key, 0)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


def _parts(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Give the tensors that hold a tensor's bytes: itself, unless it is sparse or a wrapper around others."""
    names = _COMPRESSED_PARTS.get(tensor.layout)
    if names is not None:
        for name in names:
            yield getattr(tensor.detach(), name)()
    elif type(tensor) not in _PLAIN and hasattr(type(tensor), "__tensor_flatten__"):
        for name in tensor.__tensor_flatten__()[0]:  # type: ignore[attr-defined] # torch's protocol for wrappers
            yield from _parts(getattr(tensor, name))
    else:
        yield tensor
