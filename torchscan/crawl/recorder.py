"""The recorder of one forward: what runs inside what, and what each call was given and gave."""

from __future__ import annotations

import sys
from threading import get_ident
from typing import Any

import torch
from torch import nn

from torchscan.crawl.estimate import Estimator
from torchscan.crawl.record import Call, Site
from torchscan.formulas.handler import ModuleCall
from torchscan.metadata.describe import Describer
from torchscan.operators.counter import OperatorCounter

_PLAIN = (torch.Tensor, nn.Parameter)


class Recorder:
    """Collects the calls of one forward.

    Attributes:
        calls: in the order in which they began.
        foreign: paths called in other threads, where neither order nor work can be told.
        refused: paths of modules that take no hooks; what they do is noted for the module that calls them.
    """

    def __init__(self, counter: OperatorCounter | None, estimator: Estimator | None) -> None:
        self.calls: list[Call] = []
        self.foreign: set[str] = set()
        self.refused: set[str] = set()
        self._describer = Describer()
        self._counter = counter
        self._estimator = estimator
        self._current: Call | None = None
        self._is_asking = False  # a handler that reads a parametrized weight calls modules: they are no part of the run
        self._thread = get_ident()
        if counter is not None:
            counter.listener = self._on_operator

    def begin(self, site: Site, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that a module is about to run."""
        if self._is_asking:
            return
        if get_ident() != self._thread:
            self.foreign.add(site.node.path)
            return
        call = Call(
            site,
            len(self.calls),
            self._current,
            self._describer.call(args, kwargs),
            id(args[0]) if args else 0,
            id(sys.exception()),
            kwargs or None,
        )
        site.calls += 1
        self.calls.append(call)
        self._current = call
        if self._counter is not None:
            self._counter.current = call.tally

    def end(self, site: Site, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Note that a module has run. ``output`` is None as well when it raised: then an exception is in flight."""
        if self._is_asking or get_ident() != self._thread:
            return
        call = self._current
        while call is not None and call.site is not site:
            call = call.parent  # a call inside ended without a word: its exception was swallowed
        if call is None:
            return
        if output is not None or id(sys.exception()) == call.handled:
            call.is_done = True
            call.output = self._describer.value(output)
            call.output_id = id(output)
            if self._estimator is not None:
                self._estimate(call, module, args, output)
        call.kwargs = None
        self._current = call.parent
        if self._counter is not None and call.parent is not None:
            self._counter.current = call.parent.tally

    def prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note what the module's own pre-hooks have done: they may replace the arguments, or compute a weight."""
        call = self._current
        if call is None or self._is_asking or get_ident() != self._thread:
            return
        call.input = self._describer.call(args, kwargs)
        call.kwargs = kwargs or None
        call.input_id = id(args[0]) if args else 0
        call.is_prepared_by_work = bool(call.tally.flops) or not call.tally.is_flops_complete

    def close(self) -> None:
        """Let go of the counter, which holds this recorder in turn."""
        if self._counter is not None:
            self._counter.listener = None

    def _on_operator(self, name: str, flops: int | float) -> None:
        if self._current is not None:
            site = self._current.site
            if site.operators is None:
                site.operators = {name: flops}
            else:
                site.operators[name] = site.operators.get(name, 0) + flops

    def _estimate(self, call: Call, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        estimator, counter = self._estimator, self._counter
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
        counter.is_suspended = self._is_asking = True
        try:
            call.estimate = estimator.estimate(match, ModuleCall(module, args, kwargs or {}, output), key)
        finally:
            counter.is_suspended = self._is_asking = False
        if key is not None:
            call.site.last = key, call.estimate
