"""What a workload returned, as raw little-endian files beside a JSON header, and back again. Never pickle."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import torch

from ci_action.core.timing.lockstep import OUTPUT_BYTES

HEADER = "outputs.json"
MAX_DEPTH = 32
NODE_BYTES = 64
"""What a number or an empty list may take in the header."""
_DTYPES = {
    str(getattr(torch, name)): getattr(torch, name)
    for name in (
        *("float64", "float32", "float16", "bfloat16", "complex64", "complex128"),
        *("int64", "int32", "int16", "int8", "uint8", "bool"),
    )
}


class OutputsError(Exception):
    """The outputs cannot cross: what they hold, and what is accepted."""


def write_outputs(value: Any, folder: Path) -> None:
    """Write the tensors and numbers of a nest of tuples, lists, mappings and dataclasses. Raises OutputsError."""
    folder.mkdir()
    writer = _Writer(folder)
    header = {"byte_order": "little", "tree": writer.node(value, 0)}
    (folder / HEADER).write_text(json.dumps(header, allow_nan=False), encoding="utf-8")


def read_outputs(folder: Path) -> Any:
    """Read what ``write_outputs`` wrote: tensors, numbers and None in tuples, lists and dicts. Raises OutputsError."""
    header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    return _value(header["tree"], folder)


def leaves(value: Any, place: str = "output") -> Iterator[tuple[str, Any]]:
    """Walk a nest, each leaf with the words that name its place."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{place}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from leaves(item, f"{place}[{index}]")
    else:
        yield place, value


class _Writer:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = 0
        self._bytes = 0

    def node(self, value: Any, depth: int) -> dict[str, Any]:
        if depth > MAX_DEPTH:
            raise OutputsError(f"outputs nested deeper than {MAX_DEPTH} cannot be compared")
        self._take(len(value) if isinstance(value, str) else NODE_BYTES)
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if value is None or isinstance(value, bool | str):
            return {"kind": "plain", "value": value}
        if isinstance(value, int | float):
            return {"kind": type(value).__name__, "value": value.hex() if isinstance(value, float) else str(value)}
        if isinstance(value, Mapping):
            return {"kind": "dict", "items": {str(key): self.node(item, depth + 1) for key, item in value.items()}}
        if isinstance(value, list | tuple):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {"kind": kind, "items": [self.node(item, depth + 1) for item in value]}
        if is_dataclass(value) and not isinstance(value, type):
            return self.node({field.name: getattr(value, field.name) for field in fields(value)}, depth)
        raise OutputsError(f"an output of type {type(value).__name__} cannot be compared: return tensors and numbers")

    def _tensor(self, tensor: torch.Tensor) -> dict[str, Any]:
        if str(tensor.dtype) not in _DTYPES or tensor.layout is not torch.strided or tensor.is_nested:
            raise OutputsError(f"an output of {tensor.dtype} and {tensor.layout} cannot be compared")
        size = tensor.numel() * tensor.element_size()
        self._take(size)  # before anything is copied: a tensor that was expanded is small until then
        plain = tensor.detach().cpu().contiguous().resolve_conj().resolve_neg()
        name = f"{self._files}.bin"
        self._files += 1
        # Without numpy, which a worker need not have. All platforms of torch wheels are little-endian.
        (self._folder / name).write_bytes(ctypes.string_at(plain.data_ptr(), size) if size else b"")
        return {"kind": "tensor", "file": name, "dtype": str(plain.dtype), "shape": list(plain.shape)}

    def _take(self, size: int) -> None:
        self._bytes += size
        if self._bytes > OUTPUT_BYTES:
            raise OutputsError(f"the outputs take more than {OUTPUT_BYTES >> 20} MiB: return a part of them")


def _value(node: dict[str, Any], folder: Path) -> Any:
    match node["kind"]:
        case "tensor":
            data = (folder / Path(node["file"]).name).read_bytes()
            dtype, shape = _DTYPES[node["dtype"]], node["shape"]
            return (
                torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
                if data
                else torch.empty(shape, dtype=dtype)
            )
        case "float":
            return float.fromhex(node["value"])
        case "int":
            return int(node["value"])
        case "dict":
            return {key: _value(item, folder) for key, item in node["items"].items()}
        case "list":
            return [_value(item, folder) for item in node["items"]]
        case "tuple":
            return tuple(_value(item, folder) for item in node["items"])
        case _:
            return node["value"]
