"""Hooks on every module of a tree for the length of one forward, and nothing left behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import torch
from torch import nn

from torchscan.crawl.estimate import Estimator
from torchscan.crawl.record import Call, Site
from torchscan.crawl.tree import Node
from torchscan.formulas.handler import ModuleCall
from torchscan.metadata.describe import Describer
from torchscan.operators.counter import OperatorCounter

_PLAIN = (torch.Tensor, nn.Parameter)


class Recorder:
    """Collects the calls of one forward.

    Attributes:
        calls: in the order in which they began.
        foreign: paths called in other threads, where neither order nor work can be told.
    """

    def __init__(self, counter: OperatorCounter | None, estimator: Estimator | None) -> None:
        self.calls: list[Call] = []
        self.foreign: set[str] = set()
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
        )
        site.calls += 1
        self.calls.append(call)
        self._current = call
        if self._counter is not None:
            self._counter.current = call.tally

    def end(self, site: Site, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
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
                self._estimate(call, module, args, kwargs, output)
        self._current = call.parent
        if self._counter is not None and call.parent is not None:
            self._counter.current = call.parent.tally

    def prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note what the module's own pre-hooks have done: they may replace the arguments, or compute a weight."""
        call = self._current
        if call is None or self._is_asking or get_ident() != self._thread:
            return
        call.input = self._describer.call(args, kwargs)
        call.input_id = id(args[0]) if args else 0
        call.is_prepared_by_work = bool(call.tally.flops) or not call.tally.is_flops_complete

    def close(self) -> None:
        """Let go of the counter, which holds this recorder in turn."""
        if self._counter is not None:
            self._counter.listener = None

    def _on_operator(self, name: str, flops: int | float) -> None:
        if self._current is not None:
            operators = self._current.site.operators
            operators[name] = operators.get(name, 0) + flops

    def _estimate(self, call: Call, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        estimator, counter = self._estimator, self._counter
        if estimator is None or counter is None:
            return
        match = estimator.match(type(module))
        if match is None:
            return
        key = None
        if match.cacheable and not kwargs and len(args) == 1 and type(args[0]) in _PLAIN and type(output) in _PLAIN:
            # Descriptions of plain tensors are unique objects, so their identity stands for shape and dtype.
            key = (id(call.input), id(call.output), module.training)
            known = call.site.estimates.get(key)
            if known is not None:
                call.estimate = known
                return
        counter.is_suspended = self._is_asking = True
        try:
            call.estimate = estimator.estimate(match, ModuleCall(module, args, kwargs, output), key)
        finally:
            counter.is_suspended = self._is_asking = False
        if key is not None:
            call.site.estimates[key] = call.estimate


class _Probe:
    """The two hooks of one module. A deep copy of the module, made by its own forward, shares them."""

    __slots__ = ("_recorder", "_site")

    def __init__(self, recorder: Recorder, site: Site) -> None:
        self._recorder: Recorder | None = recorder
        self._site: Site | None = site

    def __deepcopy__(self, memo: Any) -> _Probe:
        return self

    def before(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._recorder is not None and self._site is not None:
            self._recorder.begin(self._site, args, kwargs)

    def prepared(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._recorder is not None:
            self._recorder.prepared(args, kwargs)

    def after(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        if self._recorder is not None and self._site is not None:
            self._recorder.end(self._site, module, args, kwargs, output)

    def close(self) -> None:
        self._recorder = self._site = None


@contextmanager
def observed(nodes: list[Node], recorder: Recorder) -> Iterator[None]:
    """Hook every observable module but the root, whose one call the crawl makes and notes itself."""
    key = object()  # no number that torch could hand out, and none of another analysis
    attached: list[tuple[nn.Module, _Probe]] = []
    try:
        for node in nodes[1:]:
            if node.is_observable:
                probe = _Probe(recorder, Site(node))
                attached.append((node.module, probe))
                _attach(node.module, key, probe)
        yield
    finally:
        for module, probe in attached:
            probe.close()
            _detach(module, key)
        recorder.close()


def _attach(module: nn.Module, key: Any, probe: _Probe) -> None:
    # Straight into the tables behind register_forward_hook: its handles cost 25 microseconds for a module.
    hooks: Any = module._forward_pre_hooks
    options: Any = module._forward_pre_hooks_with_kwargs
    if hooks:
        # The module's own pre-hooks (weight norm, lazy initialisation) are part of its call: begin before them.
        hooks[key, "prepared"] = probe.prepared
        options[key, "prepared"] = True
        hooks[key] = probe.before
        hooks.move_to_end(key, last=False)
    else:
        hooks[key] = probe.before
    options[key] = True
    module._forward_hooks[key] = probe.after
    module._forward_hooks_with_kwargs[key] = True
    module._forward_hooks_always_called[key] = True


def _detach(module: nn.Module, key: Any) -> None:
    tables: tuple[Any, ...] = (
        module._forward_pre_hooks,
        module._forward_pre_hooks_with_kwargs,
        module._forward_hooks,
        module._forward_hooks_with_kwargs,
        module._forward_hooks_always_called,
    )
    for table in tables:
        table.pop(key, None)
        table.pop((key, "prepared"), None)
