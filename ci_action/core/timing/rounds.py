"""The evidence of lockstep pairs, as it crosses a process and a file, and as values with their one number.

A pair is two fresh processes that ran short blocks in turn on the same seconds of one machine. Blocks of a pair share
its processes, memory layout and luck, so they are no independent samples: the pair is the unit, and its value is the
median of its blocks' ln(B/A).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ci_action.errors import EvidenceError
from torchscan.report.blocks import quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["pair", "control"]
"""A pair is base (A) and head (B). A control is base twice: what it shows is the machine, not the change."""

MOST_CALLS = 1 << 32


class Round(TypedDict):
    """One lockstep pair as measured. ``order`` names the blocks as they ran, for example ABBAABBA."""

    kind: Kind
    order: str
    calls_per_block: int
    a_seconds: list[float]
    b_seconds: list[float]


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds per call of each side's blocks, matched by position."""

    a_seconds: tuple[float, ...]
    b_seconds: tuple[float, ...]

    @property
    def log_ratio(self) -> float:
        """The median over the blocks of ln(B/A): above 0 where B is slower."""
        return quantile([log(b / a) for a, b in zip(self.a_seconds, self.b_seconds, strict=True)], 0.5)

    def swapped(self) -> Pair:
        """Give the pair with its sides exchanged."""
        return Pair(self.b_seconds, self.a_seconds)


def block_order(blocks: int, *, starts_with_a: bool) -> str:
    """Give ABBA over and over: either side comes first equally often, so that a drift takes from neither."""
    cycle = "ABBA" if starts_with_a else "BAAB"
    return (cycle * ((blocks + 1) // 2))[: 2 * blocks]


def read_round(raw: Any) -> Pair:
    """Give the pair of a round that comes from a file or another process.

    Raises:
        EvidenceError: its keys, numbers or order contradict each other.
    """
    if not isinstance(raw, dict) or set(raw) != set(Round.__annotations__):
        raise EvidenceError(f"a round has exactly the keys {', '.join(Round.__annotations__)}")
    calls, order = raw["calls_per_block"], raw["order"]
    if type(calls) is not int or not 1 <= calls <= MOST_CALLS:
        raise EvidenceError(f"calls_per_block must be an int from 1 to {MOST_CALLS}")
    sides = {"A": raw["a_seconds"], "B": raw["b_seconds"]}
    if not isinstance(order, str) or set(order) - set(sides) or raw["kind"] not in ("pair", "control"):
        raise EvidenceError("a round's kind is pair or control, its order a string of A and B")
    for side, seconds in sides.items():
        if not isinstance(seconds, list) or not seconds or not all(map(_is_duration, seconds)):
            raise EvidenceError("a round's blocks are seconds that a clock can give, at least one a side")
        if len(seconds) != order.count(side) or len(seconds) != len(sides["A"]):
            raise EvidenceError("a round's order must name every block of both sides, as many of one as of the other")
    return Pair(*(tuple(second / calls for second in sides[side]) for side in "AB"))


def log_ratios(rounds: Sequence[Round], kind: Kind) -> list[float]:
    """Give the values of all pairs of one kind, in the order in which they ran."""
    return [read_round(item).log_ratio for item in rounds if item["kind"] == kind]


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1e-12 < value < 1e9
