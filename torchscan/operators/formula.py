"""One row of the operator table: what an operator costs, or why it costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torchscan.operators.call import Call

Count = int | float
Cost = Callable[[Call], Count]
"""FLOPs (or multiply-accumulates) of one dispatched call."""


@dataclass(frozen=True, slots=True)
class Formula:
    """What one operator costs.

    Attributes:
        family: heading of the documentation table.
        text: the cost in words and symbols, for that table.
        flops: the cost of one call.
        macs: multiply-accumulates of one call; None when the operator accumulates no products.
        is_product: a matrix product, convolution or attention in the native convention: FLOPs are twice the MACs and
            are counted whatever the dtype. ``macs`` is then not needed.
        is_complex_exact: the count covers complex tensors too (Fourier transforms).
        complex_flops: real operations that stand for one of ``flops`` when the tensors are complex; None: unknown.
    """

    family: str
    text: str
    flops: Cost
    macs: Cost | None = None
    is_product: bool = False
    is_complex_exact: bool = False
    complex_flops: int | None = None


@dataclass(frozen=True, slots=True)
class Free:
    """An operator that does no arithmetic.

    Attributes:
        family: heading of the documentation table.
        reason: why it counts nothing, as shown under ``ignored_operators``.
        moves: it materializes a copy of values.
    """

    family: str
    reason: str
    moves: bool = False


Row = Formula | Free
