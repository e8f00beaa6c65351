"""The running record of one operator: how its calls are counted, and what they came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchscan.operators.call import Call
from torchscan.operators.formula import Cost, Count, Formula
from torchscan.operators.nested import dense_call
from torchscan.operators.tally import Tally
from torchscan.operators.tensors import COMPLEX, INTEGER, OPAQUE, Provenance, is_opaque_type, kind_of
from torchscan.report.diagnostic import DiagnosticCode

Run = Callable[[Any, Any, Any, tuple[Any, ...], Mapping[str, Any]], Any]
"""``run(counter, entry, operator, args, kwargs)`` executes an operator that needs more than counting its call."""

INTEGER_REASON = "integer or boolean arithmetic"
NO_FORMULA = "no formula"
_UNUSUAL = {COMPLEX: "complex tensors", OPAQUE: "sparse, nested or quantized tensors"}


class Entry:
    """Everything known about one operator overload; one per overload, so memory does not grow with calls.

    Attributes:
        name: packet name as reports show it, such as ``aten.mm``.
        cost: FLOPs of one call; None when nothing is known or, in the native view, PyTorch has no formula.
        row: our own formula, which knows the multiply-accumulates in both views.
        free_reason: why it costs nothing; None for one that does arithmetic.
        run: set for an operator that is not simply executed and counted.
        moves: it materializes a copy of values.
        makes_complex: it can turn real tensors into complex ones.
        is_callers: ``cost`` is the caller's, which is taken as exact for any kind of tensor.
        is_native_product: counted by PyTorch's formula alone: twice the multiply-accumulates.
        has_known_macs: no matrix product can hide in a call that has no count.
        hides_products: some call may have held a matrix product that was not counted.
    """

    __slots__ = (
        "calls", "cost", "flops", "free_reason", "has_known_macs", "hides_products", "integer_calls", "is_callers",
        "is_free", "is_native_product", "macs", "makes_complex", "moves", "name", "problems", "row", "run",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        *,
        cost: Cost | None = None,
        row: Formula | None = None,
        free_reason: str | None = None,
        run: Run | None = None,
        moves: bool = False,
        makes_complex: bool = False,
        is_callers: bool = False,
        is_native_product: bool = False,
        has_known_macs: bool = False,
    ) -> None:
        self.name = name
        self.cost = cost
        self.row = row
        self.free_reason = free_reason
        self.is_free = free_reason is not None
        self.run = run
        self.moves = moves
        self.makes_complex = makes_complex
        self.is_callers = is_callers
        self.is_native_product = is_native_product
        self.has_known_macs = has_known_macs or row is not None
        self.calls = 0
        self.integer_calls = 0
        self.flops: Count = 0
        self.macs: Count = 0
        self.hides_products = False
        self.problems: dict[tuple[DiagnosticCode, str], int] = {}

    def count(self, call: Call, types: Any, tally: Tally, past: Provenance) -> Count:
        """Add one call to this record and to ``tally``; give its FLOPs. A formula's fault becomes a problem here."""
        row = self.row
        if self.is_callers:
            return self._add(call, tally)
        kind = kind_of(call.args)
        if call.kwargs:
            kind = max(kind, kind_of(call.kwargs.values()))
        if types and any(map(is_opaque_type, types)):
            kind = OPAQUE
        # True division of integers is real arithmetic, so the output decides as well.
        if kind == INTEGER and row is not None and not row.is_product and kind_of((call.output,)) == INTEGER:
            self.integer_calls += 1
            return 0
        if kind < COMPLEX:
            return self._add(call, tally)
        if kind == COMPLEX:
            return self._add_complex(call, tally, past)
        dense = dense_call(self.name, call, past)
        if dense is not None:
            return self._add(dense, tally)
        self.miss(tally, "unsupported_operator_formula", _UNUSUAL[OPAQUE], hides_products=True)
        return 0

    def _add(self, call: Call, tally: Tally, scale: int = 1) -> Count:
        cost = self.cost
        flops: Count = 0
        if cost is None:
            self.miss(tally, "uncounted_operator", NO_FORMULA, hides_products=not self.has_known_macs)
        try:
            if cost is not None:
                flops = scale * cost(call)
                self.flops += flops
                tally.flops += flops
            self._add_macs(call, tally, flops, scale)
        except Exception as fault:  # noqa: BLE001 # a formula, the caller's included, must not end the user's run
            self.miss(tally, "unsupported_operator_formula", _words(fault), hides_products=True)
        return flops

    def _add_macs(self, call: Call, tally: Tally, flops: Count, scale: int) -> None:
        row = self.row
        if row is None:
            if not self.is_native_product:
                self._hide(tally, not self.has_known_macs)
                return
            macs = flops // 2
        elif row.is_product:
            macs = (flops if self.cost is row.flops else scale * row.flops(call)) // 2
        elif row.macs is not None:
            macs = scale * row.macs(call)
        else:
            return
        self.macs += macs
        tally.macs += macs

    def _add_complex(self, call: Call, tally: Tally, past: Provenance) -> Count:
        """Complex tensors made during the run count as real arithmetic; those that the caller supplied are a gap."""
        row = self.row
        scale = 0 if row is None else 1 if row.is_complex_exact else row.complex_flops or 0
        if scale and past.are_made_here((call.args, tuple(call.kwargs.values()))):
            past.note_complex(call.args, call.output)
            return self._add(call, tally, scale)
        flops = self._add(call, tally)
        hides = row is None or row.is_product or row.macs is not None
        self.miss(tally, "incomplete_operator_formula", _UNUSUAL[COMPLEX], hides_products=hides)
        return flops

    def miss(self, tally: Tally, code: DiagnosticCode, words: str, *, hides_products: bool) -> None:
        """Note that a call was not counted, or not in full."""
        self.problems[code, words] = self.problems.get((code, words), 0) + 1
        tally.is_flops_complete = False
        self._hide(tally, hides_products)

    def _hide(self, tally: Tally, hides_products: bool) -> None:
        if hides_products:
            self.hides_products = True
            tally.is_macs_complete = False


def _words(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__
