"""Geometry of lockstep pairs: changes against their limit, and every block in the order in which it ran.

Numbers and path strings only; templates draw them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, isfinite
from typing import TYPE_CHECKING

from ci_action.core.timing.noise import bars
from ci_action.core.timing.rounds import read_round
from ci_action.render.rows import change
from torchscan.render import units
from torchscan.render.charts import Axis, axis
from torchscan.report.blocks import quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ci_action.core.timing.rounds import Round
    from ci_action.core.verdict import Row

WIDTH = 1080
HEIGHT = 220
MOST_BLOCKS = 6000
"""Blocks that are drawn one by one; of more, each round shows its median alone."""
_GAP = 2  # blocks' room between two rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Changes of one kind as dots, and over pairs the interval with its centre."""

    name: str
    words: str
    dots: str
    low: float | None = None
    high: float | None = None
    point: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeChart:
    """One timing: its pairs and the control on an axis of relative change, with zero and the limit."""

    metric: str
    words: str
    axis: Axis
    zero: float
    limits: tuple[tuple[float, str], ...]
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One round on the timeline: where it stands, and each side's blocks as dots and its median as a level."""

    name: str
    is_control: bool
    left: float
    width: float
    base: str
    head: str
    base_level: float
    head_level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Every round in run order, in seconds per call."""

    axis: Axis
    strips: tuple[Strip, ...]
    blocks: int
    shows_medians_only: bool


def change_chart(row: Row, metric: str, pairs: Sequence[float], controls: Sequence[float]) -> ChangeChart | None:
    """Draw one timing's changes, given as ln(head/base) of each pair in run order."""
    if not pairs:
        return None
    moved, still = ([100 * expm1(value) for value in values] for values in (pairs, controls))
    limits = list(_limits(row))
    interval = row.interval
    ends = [100 * value for value in (interval.low, interval.high)] if interval else []
    scale = axis([0.0, *moved, *still, *ends, *(height for height, _ in limits)], WIDTH, "percent", ticks=8)
    centre = None if interval is None else scale.at(100 * interval.estimate)
    lanes = [
        Lane(
            name="head / base",
            words=f"{len(pairs)} pairs of base and head",
            dots=_dots(moved, scale),
            low=scale.at(ends[0]) if ends else None,
            high=scale.at(ends[1]) if ends else None,
            point=centre,
        )
    ]
    if still:
        lanes.append(
            Lane(name="base / base", words=f"{len(still)} control pairs of base twice", dots=_dots(still, scale))
        )
    return ChangeChart(
        metric=metric,
        words=change(row),
        axis=scale,
        zero=scale.at(0),
        limits=tuple((scale.at(height), words) for height, words in limits),
        lanes=tuple(lanes),
    )


def timeline(rounds: Sequence[Round]) -> Timeline | None:
    """Lay out all rounds side by side, block by block as they ran."""
    if not rounds:
        return None
    pairs = [read_round(item) for item in rounds]
    everything = [value for pair in pairs for value in (*pair.a_seconds, *pair.b_seconds)]
    upward = axis(everything, HEIGHT, ticks=4)
    step = WIDTH / (len(everything) + _GAP * (len(rounds) - 1))
    is_large = len(everything) > MOST_BLOCKS
    strips, at = [], 0
    for number, (item, pair) in enumerate(zip(rounds, pairs, strict=True), start=1):
        sides = {"A": iter(pair.a_seconds), "B": iter(pair.b_seconds)}
        dots = {"A": "", "B": ""}
        for place, side in enumerate("" if is_large else item["order"]):
            dots[side] += f"M{step * (at + place + 0.5):.1f} {_height(next(sides[side]), upward)}h0"
        levels = [_height(quantile(values, 0.5), upward) for values in (pair.a_seconds, pair.b_seconds)]
        strips.append(
            Strip(
                name=str(number),
                is_control=item["kind"] == "control",
                left=round(step * at, 1),
                width=round(step * len(item["order"]), 1),
                base=dots["A"],
                head=dots["B"],
                base_level=levels[0],
                head_level=levels[1],
            )
        )
        at += len(item["order"]) + _GAP
    return Timeline(axis=upward, strips=tuple(strips), blocks=len(everything), shows_medians_only=is_large)


def _height(value: float, upward: Axis) -> float:
    return round(HEIGHT - upward.at(value), 1)


def _limits(row: Row) -> Iterator[tuple[float, str]]:
    """Give where the limit lies as a percentage of change, as the verdict places it."""
    base = row.base["value"] if row.base else None
    if row.limit is None or not base:
        return
    words = "warn limit" if row.limit.on_exceed == "warn" else "limit"
    for bar in bars(row.limit, base):
        if isfinite(bar.height):
            share = expm1(bar.direction * bar.height)
            yield 100 * share, f"{words} {100 * share:+.3g}%".replace("-", units.MINUS)


def _dots(values: Sequence[float], scale: Axis) -> str:
    """Set dots on a line on three levels in turn, so that equal values do not hide each other."""
    return "".join(f"M{scale.at(value)} {(at % 3 - 1) * 8}h0" for at, value in enumerate(values))
