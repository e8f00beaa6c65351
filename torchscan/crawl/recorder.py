"""The state of one observed forward: which call runs inside which, and who is asked for estimates."""

from __future__ import annotations

from threading import get_ident
from typing import Any

import torch
from torch import nn

from torchscan.crawl.estimator import Estimator
from torchscan.crawl.record import Call
from torchscan.formulas.handler import ModuleCall
from torchscan.metadata.describe import Describer
from torchscan.operators.counter import OperatorCounter

_PLAIN = (torch.Tensor, nn.Parameter)


class Recorder:
    """Collects the calls of one forward.

    Attributes:
        calls: in the order in which they began.
        current: the innermost call that runs.
        thread: where the forward runs; calls elsewhere have no order.
        is_asking: a handler is at work. If it reads a parametrized weight it calls modules: no part of the run.
        foreign: paths called in other threads, where neither order nor work can be told.
        refused: paths of modules that take no hooks; what they do is noted for the module that calls them.
    """

    def __init__(self, counter: OperatorCounter | None, estimator: Estimator | None) -> None:
        self.calls: list[Call] = []
        self.current: Call | None = None
        self.describer = Describer()
        self.counter = counter
        self.estimator = estimator
        self.thread = get_ident()
        self.is_asking = False
        self.foreign: set[str] = set()
        self.refused: set[str] = set()
        if counter is not None:
            counter.listener = self._on_operator

    def close(self) -> None:
        """Let go of the counter, which holds this recorder in turn."""
        if self.counter is not None:
            self.counter.listener = None

    def estimate(self, call: Call, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Ask the handler of the module's type about a call that just returned."""
        estimator, counter = self.estimator, self.counter
        if estimator is None or counter is None:
            return
        match = estimator.match(type(module))
        if match is None:
            return
        key, kwargs, last = None, call.kwargs, call.site.last
        if match.cacheable and kwargs is None and len(args) == 1 and type(args[0]) in _PLAIN and type(output) in _PLAIN:
            # Descriptions of plain tensors are unique objects, so their identity stands for shape and dtype.
            key = (id(call.input), id(call.output), module.training)
            if last is not None and last[0] == key:
                call.estimate = last[1]
                return
        counter.is_suspended = self.is_asking = True
        try:
            call.estimate = estimator.estimate(match, ModuleCall(module, args, kwargs or {}, output), key)
        finally:
            counter.is_suspended = self.is_asking = False
        if key is not None:
            call.site.last = key, call.estimate

    def _on_operator(self, name: str, flops: int | float) -> None:
        if self.current is not None:
            self.current.site.add_operator(name, flops)
