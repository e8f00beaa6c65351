"""The device that a workload is measured on: named, available, and waited for."""

from __future__ import annotations

from typing import Any

import torch


def resolve_device(device: Any) -> torch.device:
    """Give the device with its index, or say what can be measured here.

    Raises:
        TypeError: ``device`` is neither a string nor a torch.device.
        ValueError: it is no device, none that can be measured, or not there.
    """
    if not isinstance(device, str | torch.device):
        raise TypeError(f"device must be a string or a torch.device, got {type(device).__name__}; {_accepted()}")
    try:
        parsed = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device {device!r} is not a device; {_accepted()}") from error
    if parsed.type == "cpu":
        return torch.device("cpu")
    if parsed.type == "cuda" and torch.cuda.is_available():
        index = torch.cuda.current_device() if parsed == torch.device("cuda") else parsed.index
        if index < torch.cuda.device_count():
            return torch.device("cuda", index)
    if parsed.type == "mps" and torch.backends.mps.is_available():
        return torch.device("mps")
    raise ValueError(f"device {str(parsed)!r} cannot be measured here; {_accepted()}")


def synchronize(device: torch.device) -> None:
    """Wait until the device has finished what was queued on it: a kernel launch is no result."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _accepted() -> str:
    known = ["cpu"]
    known += [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    known += ["mps"] if torch.backends.mps.is_available() else []
    return f"accepted on this machine: {', '.join(known)}"
