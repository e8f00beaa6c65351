"""What a measurement must leave as it found it."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def restored_process_state(device: torch.device) -> Iterator[None]:
    """Give back thread count, grad mode and the random generators, also after an exception or an interrupt.

    The workload's draws advance the generators while it is measured; afterwards the caller's own stream goes on where
    it was. The workload's other effects (weights, statistics, files) belong to its owner.
    """
    threads = torch.get_num_threads()
    grad_enabled = torch.is_grad_enabled()
    # As bytes: a state tensor of ours would count among the live storages.
    torch_state = bytes(torch.random.get_rng_state().tolist())
    cuda_state = bytes(torch.cuda.get_rng_state(device).tolist()) if device.type == "cuda" else None
    mps_state = bytes(torch.mps.get_rng_state().tolist()) if device.type == "mps" else None
    python_state = random.getstate()
    numpy = sys.modules.get("numpy")  # never imported for this: a generator that nobody loaded cannot move
    numpy_state = numpy.random.get_state() if numpy else None
    try:
        yield
    finally:
        if numpy:
            numpy.random.set_state(numpy_state)
        random.setstate(python_state)
        if mps_state is not None:
            torch.mps.set_rng_state(_tensor(mps_state))
        if cuda_state is not None:
            torch.cuda.set_rng_state(_tensor(cuda_state), device)
        torch.random.set_rng_state(_tensor(torch_state))
        torch.set_grad_enabled(grad_enabled)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)


def _tensor(state: bytes) -> torch.Tensor:
    return torch.tensor(list(state), dtype=torch.uint8, device="cpu")
