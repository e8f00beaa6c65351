"""FLOPs by module label, as PyTorch's counter names them: ``Global``, and ``ClassName.path.of.child``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from torch.nn import Module

if TYPE_CHECKING:
    from torchscan.operators.counter import OperatorCounter

GLOBAL = "Global"


class ModuleLabels:
    """While entered, adds each counted operator to every module whose forward is running, and to ``Global``.

    Hooks sit on the given modules only and are removed on exit; nothing global changes. Without modules only the
    ``Global`` label exists. Work of a backward pass runs outside forwards, so it is ``Global`` alone.
    """

    def __init__(self, modules: Iterable[Module], counter: OperatorCounter) -> None:
        self.counts: dict[str, Counter[str]] = {GLOBAL: Counter()}
        self._modules = list(modules)
        self._counter = counter
        self._running: list[str] = []
        self._hooks = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as undo:  # a module that refuses hooks must not leave half of them behind
            for label, module in self._labelled().items():
                undo.callback(module.register_forward_pre_hook(self._starter(label)).remove)
                undo.callback(module.register_forward_hook(self._stopper(label), always_call=True).remove)
            self._counter.listener = self._add
            self._hooks = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._counter.listener = None
        self._hooks.close()

    def _labelled(self) -> dict[str, Module]:
        labels: dict[str, Module] = {}
        for root in self._modules:
            for path, module in root.named_modules():
                name = type(root).__name__
                labels.setdefault(f"{name}.{path}" if path else name, module)
        return labels

    def _add(self, operator: str, flops: int | float) -> None:
        for label in {GLOBAL, *self._running}:
            self.counts.setdefault(label, Counter())[operator] += flops  # type: ignore[assignment] # FLOPs may be floats

    def _starter(self, label: str) -> Any:
        def start(module: Module, args: Any) -> None:  # noqa: ARG001 # the signature of a hook
            self._running.append(label)

        return start

    def _stopper(self, label: str) -> Any:
        def stop(module: Module, args: Any, output: Any) -> None:  # noqa: ARG001
            if self._running and self._running[-1] == label:
                self._running.pop()

        return stop
