"""Run a forward in evaluation mode and give the process back as it was, whatever happens inside."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn

from torchscan.crawl.tree import Node
from torchscan.operators.compiled import eager_stance
from torchscan.operators.shared import Shared

FRAMES_PER_CALL = 4
"""Python frames that observing adds to one module call: torch's inner function, and room for a hook at the bottom."""


@contextmanager
def undisturbed(nodes: list[Node]) -> Iterator[None]:
    """Evaluation mode, no gradients, eager execution, room to recurse; all undone, random generators included."""
    with ExitStack() as stack:
        stack.enter_context(_random_state())
        stack.enter_context(_recursion_limit(max(node.depth for node in nodes)))
        stack.enter_context(_evaluation_mode(nodes))
        stack.enter_context(eager_stance())
        stack.enter_context(torch.no_grad())
        yield


@contextmanager
def _evaluation_mode(nodes: list[Node]) -> Iterator[None]:
    # Flags only: an own train() may merge adapters or rebuild layers, which is more than looking.
    flags = [bool(node.module.training) for node in nodes]
    try:
        for node, flag in zip(nodes, flags, strict=True):
            if flag:
                _set_training(node.module, False)
        yield
    finally:
        for node, flag in zip(nodes, flags, strict=True):  # the forward itself may have switched some
            if node.module.training != flag:
                _set_training(node.module, flag)


def _set_training(module: nn.Module, flag: bool) -> None:
    attributes = vars(module)
    if "training" in attributes:
        attributes["training"] = flag
    else:
        module.training = flag  # a scripted module keeps it in C++


@contextmanager
def _random_state() -> Iterator[None]:
    python_state, torch_state = random.getstate(), torch.get_rng_state()
    restores: list[Callable[[], Any]] = [
        lambda: random.setstate(python_state),
        lambda: torch.set_rng_state(torch_state),
    ]
    backends: tuple[Any, ...] = (torch.cuda, getattr(torch, "xpu", None))
    restores.extend(
        partial(backend.set_rng_state_all, backend.get_rng_state_all())
        for backend in backends
        if backend is not None and backend.is_initialized()
    )
    numpy_random: Any = sys.modules.get("numpy.random")  # not through numpy, which would import it
    if numpy_random is not None:
        numpy_state = numpy_random.get_state()
        restores.append(lambda: numpy_random.set_state(numpy_state))
    try:
        yield
    finally:
        for restore in restores:
            restore()


@contextmanager
def _recursion_limit(depth: int) -> Iterator[None]:
    with _LIMIT:
        room = _limit_before[-1] + FRAMES_PER_CALL * depth + 200
        sys.setrecursionlimit(max(sys.getrecursionlimit(), room))
        yield


_limit_before: list[int] = []


@contextmanager
def _limit_restored() -> Iterator[None]:
    _limit_before.append(sys.getrecursionlimit())
    try:
        yield
    finally:
        sys.setrecursionlimit(_limit_before.pop())


_LIMIT = Shared(_limit_restored)
