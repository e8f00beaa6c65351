"""A module's place in the tree, and the hooks that note its calls. They run on every call, so they do little."""

from __future__ import annotations

import sys
from threading import get_ident
from typing import Any

from torch import nn

from torchscan.crawl.estimate import Estimate
from torchscan.crawl.functional import work_between
from torchscan.crawl.record import Call
from torchscan.crawl.recorder import Recorder
from torchscan.crawl.tree import Node
from torchscan.operators.tally import NOTHING


class Site:
    """One observed module.

    Attributes:
        recorder: who collects the calls; None once the observation is over.
        calls: how often the module was called so far.
        is_opaque: what its calls do inside cannot be observed.
        operators: FLOPs dispatched while the module was the innermost one, by operator; None before the first.
        last: what the last call was about, and its estimate: a module in a loop mostly repeats itself.
    """

    __slots__ = ("calls", "is_opaque", "last", "node", "operators", "recorder")

    def __init__(self, node: Node, recorder: Recorder) -> None:
        self.node = node
        self.recorder: Recorder | None = recorder
        self.is_opaque = node.is_opaque
        self.calls = 0
        self.operators: dict[str, int | float] | None = None
        self.last: tuple[Any, Estimate] | None = None

    def __deepcopy__(self, memo: Any) -> Site:
        return self  # a forward may deep-copy a hooked module; the copy's hooks end with ours

    def __reduce__(self) -> Any:
        return _unobserving, (self.node.path,)  # or pickle one: the copy's hooks do nothing

    def before(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that the module is about to run."""
        recorder = self.recorder
        if recorder is None or recorder.is_asking:
            return
        if get_ident() != recorder.thread:
            recorder.foreign.add(self.node.path)
            return
        calls = recorder.calls
        call = recorder.current = Call(
            self,
            len(calls),
            recorder.current,
            recorder.describer.call(args, kwargs),
            id(args[0]) if args else 0,
            id(sys.exception()),
            kwargs or None,
        )
        self.calls += 1
        calls.append(call)
        if recorder.counter is not None:
            recorder.counter.current = call.tally

    def prepared(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note what the module's own pre-hooks have done: they may replace the arguments, or compute a weight."""
        recorder = self.recorder
        if recorder is None or recorder.is_asking or get_ident() != recorder.thread:
            return
        call = recorder.current
        if call is not None:
            call.input = recorder.describer.call(args, kwargs)
            call.kwargs = kwargs or None
            call.input_id = id(args[0]) if args else 0
            call.hook_work = work_between(NOTHING, call.tally)

    def returned(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Ask about the forward itself, before the module's own hooks: they may compute, or replace the output."""
        recorder = self.recorder
        if recorder is None or recorder.is_asking or get_ident() != recorder.thread:
            return
        call = recorder.current = self._running(recorder.current)
        if call is None:
            return
        if recorder.counter is not None:
            recorder.counter.current = call.tally
        call.output = recorder.describer.value(output)
        recorder.estimate(call, module, args, output)
        call.before_hooks = call.tally.moment()

    def after(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Note that the module has run. ``output`` is None as well when it raised: then an exception is in flight."""
        recorder = self.recorder
        if recorder is None or recorder.is_asking or get_ident() != recorder.thread:
            return
        call = self._running(recorder.current)
        if call is None:
            return
        if output is not None or id(sys.exception()) == call.handled:
            call.is_done = True
            call.output = recorder.describer.value(output)
            call.output_id = id(output)
            if call.before_hooks is not None:
                call.hook_work += work_between(call.before_hooks, call.tally)
            elif recorder.estimator is not None:
                recorder.estimate(call, module, args, output)
        call.kwargs = None
        parent = recorder.current = call.parent
        if parent is not None and recorder.counter is not None:
            recorder.counter.current = parent.tally

    def _running(self, call: Call | None) -> Call | None:
        """Find this module's call among those that run; one inside may have ended in an exception, without a word."""
        while call is not None and call.site is not self:
            call = call.parent
        return call

    def add_operator(self, name: str, flops: int | float) -> None:
        """Add an operator that ran while the module was the innermost one."""
        if self.operators is None:
            self.operators = {name: flops}
        else:
            self.operators[name] = self.operators.get(name, 0) + flops

    def close(self) -> None:
        """Let go of the recorder."""
        self.recorder = None


class RootSite(Site):
    """The root. The crawl notes its outermost call, so hooks are for the calls that the root makes to itself."""

    __slots__ = ("is_running",)

    def __init__(self, node: Node, recorder: Recorder) -> None:
        super().__init__(node, recorder)
        self.is_running = False

    def again(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that the root is about to run inside of itself."""
        if self.is_running:
            self.before(module, args, kwargs)
        self.is_running = True

    def ended(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Note that the root has run inside of itself."""
        recorder = self.recorder
        call = None if recorder is None else self._running(recorder.current)
        if call is not None and call.parent is not None:
            self.after(module, args, output)


def _unobserving(path: str) -> Site:
    site = Site.__new__(Site)
    site.recorder = None
    site.node = Node(path, 0, nn.Module(), False)
    return site
