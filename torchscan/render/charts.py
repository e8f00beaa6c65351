"""Geometry of charts of timing blocks: axes, dots, boxes. Numbers and path strings only, no markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from torchscan.render.units import DIGITS, MINUS, text
from torchscan.report.blocks import quantile

MOST_DOTS = 2000
_ONE_VALUE = (
    1e-9  # no clock tells values apart that lie closer together; a zoom on them would meet the rounding of floats
)
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis over numbers, and where its ticks stand on ``length`` units."""

    low: float
    high: float
    length: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Place a value."""
        return round((value - self.low) / (self.high - self.low) * self.length, 1)

    @property
    def starts_at_zero(self) -> bool:
        return self.low == 0


@dataclass(frozen=True, slots=True)
class Box:
    """Five order statistics, placed on an axis."""

    low: float
    first: float
    median: float
    third: float
    high: float


@dataclass(frozen=True, slots=True)
class Side:
    """One set of blocks, drawn: dots in run order, dots on a line, a box, and the empirical distribution."""

    name: str
    run_order: str
    strip: str
    box: Box  # on the strip's axis
    level: Box  # on the axis of the run-order chart
    steps: str
    count: int
    is_binned: bool


def axis(values: Sequence[float], length: float, unit: str = "seconds", *, ticks: int = 5) -> Axis:
    """Span all values with round ticks. Dots may zoom in, so the axis need not start at 0; the page says so."""
    low, high = min(values), max(values)
    if high - low <= _ONE_VALUE * max(abs(low), abs(high)):
        low, high = low - abs(low or 1) / 10, high + abs(high or 1) / 10
    step = _round_step((high - low) / ticks)
    first, last = floor(low / step), ceil(high / step)
    numbers = [step * at for at in range(first, last + 1)]
    span = numbers[-1] - numbers[0]
    placed = (round((number - numbers[0]) / span * length, 1) for number in numbers)
    return Axis(numbers[0], numbers[-1], length, tuple(zip(placed, _labels(numbers, step, unit), strict=True)))


def _round_step(step: float) -> float:
    size = 10.0 ** floor(log10(step))
    return next(size * each for each in _STEPS if size * each >= step * 0.999999)


def _labels(numbers: Sequence[float], step: float, unit: str) -> tuple[str, ...]:
    """Write the ticks with the digits that their step needs: rounded further, neighbours would read alike."""
    decimals = next(count for count in range(3) if abs(step - round(step, count - _place(step))) < step / 1000)
    digits = _place(max(map(abs, numbers))) - _place(step) + 1 + decimals
    if unit == "percent":
        return tuple(_percentage(number, max(3, digits)) for number in numbers)
    positive = [number for number in numbers if number > 0]
    return tuple(text(number, unit, like=positive, digits=max(DIGITS, digits)) for number in numbers)


def _place(number: float) -> int:
    """Return the power of ten of a number's first digit."""
    return floor(log10(number) + 1e-12)


def _percentage(number: float, digits: int) -> str:
    return f"{number:+.{digits}g}%".replace("-", MINUS) if number else "0%"


def side(name: str, values: Sequence[float], along: Axis, upward: Axis, width: float) -> Side:
    """Draw one set of values. ``along`` is the axis of the strip, ``upward`` that of the run-order chart."""
    kept, is_binned = _binned(values)
    spread = width / max(1, len(kept))
    order = "".join(
        f"M{spread * (at + 0.5):.1f} {upward.length - upward.at(value):.1f}h0" for at, value in enumerate(kept)
    )
    # Dots on a line are set on three levels in turn, so that equal values do not hide each other.
    strip = "".join(f"M{along.at(value)} {(at % 3) * 7}h0" for at, value in enumerate(kept))
    return Side(
        name, order, strip, _box(values, along), _box(values, upward), _steps(values, along), len(values), is_binned
    )


def _box(values: Sequence[float], along: Axis) -> Box:
    return Box(*(along.at(quantile(values, fraction)) for fraction in (0, 0.25, 0.5, 0.75, 1)))


def _binned(values: Sequence[float]) -> tuple[list[float], bool]:
    """Keep lowest, median and highest of each bin where there are too many values to draw."""
    if len(values) <= MOST_DOTS:
        return list(values), False
    size = ceil(len(values) / (MOST_DOTS // 3))
    kept = []
    for start in range(0, len(values), size):
        part = sorted(values[start : start + size])
        kept += [part[0], part[len(part) // 2], part[-1]]
    return kept, True


def _steps(values: Sequence[float], along: Axis, height: float = 100.0) -> str:
    """Draw the share of blocks up to each value as steps; too few blocks would only look exact."""
    if len(values) < 100:
        return ""
    ordered = sorted(values)
    every = max(1, len(ordered) // 200)
    path = f"M{along.at(ordered[0])} {height}"
    for at in range(0, len(ordered), every):
        path += f"H{along.at(ordered[at])}V{height * (1 - (at + 1) / len(ordered)):.1f}"
    return f"{path}H{along.length}"
