"""What one module call, or a whole run, has dispatched so far."""

from __future__ import annotations


class Tally:
    """Work attributed to one owner. Mutable and slotted: it is written once per dispatched operator.

    Attributes:
        flops: floating-point operations that a formula counted.
        macs: multiply-accumulates of matrix products, convolutions, attention, recurrent and bilinear kernels.
        is_flops_complete: no operator of unknown cost has been dispatched; ``flops`` is exact for its convention.
        is_macs_complete: no operator that may hide a product has been dispatched without a formula.
        moves: a copy that materializes values (cat, clone, index and the like) has been dispatched.
    """

    __slots__ = ("flops", "is_flops_complete", "is_macs_complete", "macs", "moves")

    def __init__(self) -> None:
        self.flops: int | float = 0
        self.macs: int | float = 0
        self.is_flops_complete = True
        self.is_macs_complete = True
        self.moves = False

    def moment(self) -> Moment:
        """Give what has been dispatched until now, to be compared later."""
        return self.flops, self.macs, self.is_flops_complete, self.is_macs_complete, self.moves


Moment = tuple[int | float, int | float, bool, bool, bool]
NOTHING: Moment = Tally().moment()
