"""One lean dispatch mode that counts the work of every operator run inside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, Self

from torch.utils._python_dispatch import TorchDispatchMode

from torchscan.operators.call import Call
from torchscan.operators.compiled import BYPASS, GENERATED_CODE, can_compile, can_generate, eager_stance
from torchscan.operators.custom import check_custom_mapping
from torchscan.operators.entry import Entry
from torchscan.operators.explicit_attention import Suspect
from torchscan.operators.native import native_registry
from torchscan.operators.report import flop_report
from torchscan.operators.resolve import resolve
from torchscan.operators.tally import Tally
from torchscan.operators.tensors import Provenance
from torchscan.report.analysis import METHODS, NATIVE_METHOD
from torchscan.report.flops import FlopReport
from torchscan.report.metric import MetricResult, complete, partial

Formulas = Literal["native", "extended"]
FORMULAS = ("native", "extended")


class OperatorCounter(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch does not annotate its hook
    """Count FLOPs and multiply-accumulates of every operator dispatched while active. Memory grows with distinct
    operators, never with calls.

    Attributes:
        current: the tally that the next operator's work is added to. Whoever watches modules assigns it.
        is_suspended: while true, operators run uncounted.
        listener: called with (operator name, FLOPs) after each counted operator, or None.

    Raises:
        ValueError: ``formulas`` is not ``native`` or ``extended``.
        TypeError: ``custom_mapping`` holds something that is not an operator packet, or not a callable.
        NotImplementedError: the installed PyTorch exposes no operator formulas.
    """

    # Without it a higher-order operator (flex_attention, cond, checkpoint) raises instead of reaching the mode.
    supports_higher_order_operators = True

    def __init__(
        self,
        *,
        formulas: Formulas = "extended",
        custom_mapping: Mapping[Any, Callable[..., int | float]] | None = None,
    ) -> None:
        if formulas not in FORMULAS:
            raise ValueError(f"formulas accepts {', '.join(map(repr, FORMULAS))}; got {formulas!r}")
        super().__init__()  # type: ignore[no-untyped-call] # torch does not annotate it
        self.formulas = formulas
        self.current = Tally()
        self.is_suspended = False
        self.listener: Callable[[str, int | float], None] | None = None
        self._custom = check_custom_mapping(custom_mapping)
        self._native = native_registry()
        # Keyed by id, since an overload's own __hash__ is a Python function; the second keeps those ids taken.
        self._entries: dict[int, Entry] = {}
        self._operators: list[Any] = []
        self._stances: list[AbstractContextManager[Any]] = []
        self.past = Provenance()
        self.suspect: Suspect | None = None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # True would wrap __torch_dispatch__ in torch._disable_dynamo, whose first use imports all of dynamo.
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Keep the mode out of compilation: else a function first called in it would stay eager for good."""
        return True

    def __enter__(self) -> Self:
        self._may_compile = not can_compile()
        stance = eager_stance()
        stance.__enter__()
        self._stances.append(stance)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            super().__exit__(*error)  # type: ignore[no-untyped-call]
        finally:
            self._stances.pop().__exit__(None, None, None)
        if self._may_compile and can_generate():  # the run itself compiled something, and then ran it
            entry = self._entries.setdefault(0, Entry(GENERATED_CODE))
            entry.calls += 1
            entry.miss(self.current, "uncounted_operator", BYPASS, hides_products=True)

    @contextmanager
    def resumed(self) -> Iterator[None]:
        """Count again inside the running of an operator, for what that operator dispatches in turn."""
        super().__enter__()  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            super().__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        entry = self._entries.get(id(func)) or self.entry_of(func)
        if self.is_suspended:
            return func(*args, **kwargs) if kwargs else func(*args)
        if entry.run is not None:
            return entry.run(self, entry, func, args, kwargs or {})
        output = func(*args, **kwargs) if kwargs else func(*args)
        if entry.is_free:  # the commonest case, kept short
            entry.calls += 1
            if entry.moves:
                self.current.moves = True
        else:
            self.count(entry, Call(args, kwargs or {}, output), types)
        if entry.makes_complex or self.past.has_complex:
            self.past.note_complex(args, output)
        return output

    def count(self, entry: Entry, call: Call, types: Any = ()) -> None:
        """Add one executed call."""
        entry.calls += 1
        if entry.is_free:
            self.current.moves |= entry.moves
            return
        flops = entry.count(call, types, self.current, self.past)
        if flops and self.listener is not None:
            self.listener(entry.name, flops)

    def take_back(self, entry: Entry, flops: int | float) -> None:
        """Undo FLOPs that turned out to be part of a fused kernel."""
        entry.flops -= flops
        self.current.flops -= flops
        if flops and self.listener is not None:
            self.listener(entry.name, -flops)

    def entry_of(self, func: Any) -> Entry:
        """Give an operator's record, made at its first call."""
        entry = self._entries.get(id(func))
        if entry is None:
            entry = self._entries[id(func)] = resolve(func, self.formulas, self._custom, self._native)
            self._operators.append(func)
        return entry

    @property
    def total(self) -> Tally:
        """What all tallies come to: the sums over the operators seen."""
        total = Tally()
        for entry in self._entries.values():
            total.flops += entry.flops
            total.macs += entry.macs
            total.moves |= entry.moves and entry.calls > 0
            total.is_flops_complete &= not entry.problems
            total.is_macs_complete &= not entry.hides_products
        return total

    def flops_metric(self, tally: Tally, scope: str) -> MetricResult:
        """Give a tally's FLOPs, complete or as a lower bound."""
        method = NATIVE_METHOD if self.formulas == "native" else METHODS["operator_flops"]
        make = complete if tally.is_flops_complete else partial
        return make(tally.flops, unit="FLOPs", scope=scope, method=method)

    def macs_metric(self, tally: Tally, scope: str) -> MetricResult:
        """Give a tally's multiply-accumulates, complete or as a lower bound."""
        make = complete if tally.is_macs_complete else partial
        return make(tally.macs, unit="MACs", scope=scope, method=METHODS["operator_macs"])

    def report(
        self, by_module: Mapping[str, Mapping[str, int | float]] | None = None, *, scope: str = "workload"
    ) -> FlopReport:
        """Give what was counted so far as a FlopReport."""
        return flop_report(list(self._entries.values()), self.formulas, self.flops_metric(self.total, scope), by_module)
