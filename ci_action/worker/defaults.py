"""Torch's defaults for the whole process: what one target sets must not build the next one differently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def defaults_restored() -> Iterator[None]:
    """Undo what a factory or a forward sets: default dtype and device, threads and gradient mode.

    What a file sets when it is imported stays: it is imported once, whichever of its targets comes first.
    """
    dtype, device = torch.get_default_dtype(), _device()
    threads, is_grad_enabled = torch.get_num_threads(), torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        if _device() != device:
            torch.set_default_device(None if device.type == "cpu" else device)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        torch.set_grad_enabled(is_grad_enabled)


def _device() -> torch.device:
    return torch.empty(0).device  # torch.get_default_device came with torch 2.3
