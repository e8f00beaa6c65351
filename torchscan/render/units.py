"""Numbers as text. Every page, comment and table takes its numbers from here, so they cannot disagree.

Counts carry SI prefixes, bytes IEC prefixes, seconds ns to s. Four significant digits; below 10,000 a count is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from math import floor, log10

from torchscan.report.metric import MetricResult, Number

NBSP = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"
NONE = "\N{EM DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
ARROW = "\N{RIGHTWARDS ARROW}"

DIGITS = 4
DELTA_DIGITS = 3
_MOST_DIGITS = 7  # a pair that still prints alike here is printed exactly
_SHARED_RANGE = 1000  # numbers further apart than this keep a prefix each
_WIDEST = 10_000  # a shared prefix never asks for five digits before the point


@dataclass(frozen=True, slots=True)
class _Scale:
    """Prefixes of one kind of unit, smallest first, and from where on a number needs one."""

    steps: tuple[tuple[Number, str], ...]
    exact_below: Number = 0
    carry: int = 1000
    zero_unit: str = ""
    suffix: str = ""
    sizes: tuple[Number, ...] = field(init=False)  # of the steps alone

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(size for size, _ in self.steps))

    def step_of(self, magnitude: Number) -> int:
        """Give the index of the largest prefix that leaves at least one digit before the point."""
        if magnitude < self.exact_below:
            return 0
        return max(0, bisect_right(self.sizes, magnitude) - 1)


_SI = tuple((1000**power, prefix) for power, prefix in enumerate(("", "k", "M", "G", "T", "P", "E", "Z", "Y")))
_IEC = tuple((1024**power, unit) for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")))
_COUNT = _Scale(_SI, exact_below=10_000)
_BYTES = _Scale(_IEC, exact_below=1024, carry=1024, zero_unit="B")
_SECONDS = _Scale(((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1, "s")), zero_unit="s")

_ASCII = str.maketrans(
    {NBSP: " ", MINUS: "-", AT_LEAST: ">=", NONE: "-", TIMES: "x", ELLIPSIS: "..", ARROW: "->", "µ": "u", "·": "-"}
)


@lru_cache(maxsize=64)
def _scale(unit: str) -> _Scale:
    known = {"bytes": _BYTES, "seconds": _SECONDS, "bytes/s": replace(_BYTES, suffix="/s")}
    if unit in known:
        return known[unit]
    return _Scale(_SI, suffix=f"{NBSP}{unit}") if unit.endswith("/s") else _COUNT


def _decimals(magnitude: Number, digits: int) -> int:
    """Give the decimals that leave ``digits`` significant digits, zeros before the first one not counted."""
    if 1 <= magnitude < 1000:  # nearly every prefixed number
        return max(0, digits - (1 if magnitude < 10 else 2 if magnitude < 100 else 3))
    return max(0, digits - 1 - floor(log10(magnitude))) if magnitude else 0


def _fixed(magnitude: Number, scale: _Scale, step: int, digits: int, *, may_carry: bool) -> str:
    """Write a magnitude in one prefix, or in the next one where rounding carries it there."""
    size, prefix = scale.steps[step]
    scaled = magnitude / size
    decimals = _decimals(scaled, digits)
    number = f"{scaled:.{decimals}f}"
    if decimals and float(number) >= 10 ** (digits - decimals):  # 9.9996 rounds to 10.000: one digit too many
        number = f"{scaled:.{decimals - 1}f}"
    if may_carry and float(number) >= scale.carry > scaled and step + 1 < len(scale.steps):
        return _fixed(scale.steps[step + 1][0], scale, step + 1, digits, may_carry=False)
    return f"{number}{NBSP if prefix else ''}{prefix}"


def _exact(magnitude: Number, digits: int) -> str:
    """Write a number below the first prefix: integers whole, the rest to ``digits`` significant digits."""
    if magnitude == int(magnitude):
        return f"{int(magnitude):,}"
    return f"{magnitude:.{_decimals(magnitude, digits)}f}".rstrip("0").rstrip(".")


def _write(value: Number, unit: str, digits: int, step: int | None = None) -> str:
    """Write a number in the prefix ``step``, or in its own one."""
    scale = _scale(unit)
    magnitude = abs(value)
    at = scale.step_of(magnitude) if step is None else step
    base = scale.steps[0][1]
    if magnitude == 0:
        body = f"0{NBSP}{scale.zero_unit}" if scale.zero_unit else "0"
    elif magnitude >= scale.steps[-1][0] * _WIDEST:
        body = f"{Decimal(magnitude):.{digits - 1}e}".replace("e+", "e") + (f"{NBSP}{base}" if base else "")
    elif at == 0 and magnitude < scale.exact_below:
        body = _exact(magnitude, digits) + (f"{NBSP}{base}" if base else "")
    else:
        body = _fixed(magnitude, scale, at, digits, may_carry=step is None)
    return f"{MINUS if value < 0 else ''}{body}{scale.suffix}"


def _shared_step(values: Iterable[Number], unit: str) -> int | None:
    """Give one prefix for numbers that are read side by side, or None where they are too far apart for one."""
    scale = _scale(unit)
    sizes = [abs(value) for value in values if value]
    if not sizes or max(sizes) >= _SHARED_RANGE * min(sizes):
        return None
    smallest, largest = scale.step_of(min(sizes)), scale.step_of(max(sizes))
    return smallest if max(sizes) / scale.steps[smallest][0] < _WIDEST else largest


def text(value: Number, unit: str, *, like: Iterable[Number] = (), digits: int = DIGITS) -> str:
    """Write a number with its prefix: ``4.096 G``, ``9,408``, ``142.3 MiB``, ``12.41 ms``, ``1.523 k samples/s``.

    ``like`` names the numbers beside it: all get one prefix where they lie within a factor of 1,000.
    """
    neighbours = tuple(like)
    return _write(value, unit, digits, _shared_step((value, *neighbours), unit) if neighbours else None)


def cap(value: Number, unit: str, *, like: Iterable[Number] = ()) -> str:
    """Write an owner's limit without padding, in the prefix of the value that it limits: ``5 M``, ``1000 M``."""
    number, space, rest = text(value, unit, like=like).partition(NBSP)
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number}{space}{rest}"


def pair(before: Number, after: Number, unit: str) -> tuple[str, str]:
    """Write two numbers in one prefix, with as many digits as it takes to see that they differ."""
    step = _shared_step((before, after), unit)
    for digits in range(DIGITS, _MOST_DIGITS + 1):
        left, right = _write(before, unit, digits, step), _write(after, unit, digits, step)
        if left != right or before == after:
            return left, right
    return exact(before, unit), exact(after, unit)


def exact(value: Number, unit: str = "") -> str:
    """Write every digit: ``4,096``, ``44,089,344 B``. For titles and for pairs that rounding cannot tell apart."""
    if not unit and type(value) is int and value >= 0:
        return f"{value:,}"
    whole = isinstance(value, int) or value.is_integer()
    digits = f"{int(value):,}" if whole else repr(value)
    base = {"bytes": "B", "seconds": "s"}.get(unit, unit if unit.endswith("/s") else "")
    return digits.replace("-", MINUS) + (f"{NBSP}{base}" if base else "")


def delta(before: Number, after: Number, unit: str) -> str:
    """Write ``after - before`` with its sign and three digits: ``+822 M``, ``+4,096``, ``−72.2 MiB``, ``0``."""
    change = after - before
    if change == 0:
        return "0"
    return f"{'+' if change > 0 else ''}{_write(change, unit, DELTA_DIGITS)}"


def percent(before: Number, after: Number) -> str:
    """Write the relative change: ``+10.1%``, ``+0.008%``, ``×2.4`` from +100% up, ``was 0`` where there was nothing."""
    if before == after:
        return "0%"
    if before == 0:
        return "was 0"
    return "n/a" if before < 0 else relative(after / before - 1)


def relative(fraction: float) -> str:
    """Write a signed fraction as a percentage: 0.049 is ``+4.9%``; from +100% up the factor is easier to read."""
    size = abs(fraction) * 100
    decimals = 1 if size >= 0.995 else _decimals(size, 2)
    number = f"{size:.{decimals}f}"
    if fraction > 0 and float(number) >= 100:
        factor = fraction + 1
        return f"{TIMES}{factor:,.{0 if factor >= 9.95 else 1}f}"
    if -1 < fraction < 0 and float(number) >= 100:
        number = "99.9"  # not everything is gone, so 100.0 would be wrong
    if float(number) == 0:
        return "0%"
    return f"{'+' if fraction > 0 else MINUS}{number}%"


def interval(point: float, low: float, high: float) -> str:
    """Write a change and its interval, all fractions: ``+4.9% [+3.4, +6.4]``."""
    point_text, low_text, high_text = (f"{100 * value:+.1f}" for value in (point, low, high))
    return _signs(f"{point_text}% [{low_text}, {high_text}]")


def _signs(written: str) -> str:
    """Print a rounded zero without a sign, and a true minus."""
    for zero in ("+0.0", "-0.0"):
        for end in ("%", ",", "]"):
            written = written.replace(zero + end, "0.0" + end)
    return written.replace("-", MINUS)


def share(part: Number, whole: Number) -> str:
    """Write a part of a whole: ``12.3%``, ``< 0.1%`` where rounding would hide it, ``0%`` for a true zero."""
    if whole <= 0:
        return NONE
    if part == 0:
        return "0%"
    percentage = 100 * part / whole
    return f"<{NBSP}0.1%" if percentage < 0.05 else f"{percentage:.1f}%"


def timing(median_seconds: float, iqr_seconds: float) -> tuple[str, str]:
    """Write a median and its IQR in one unit, cut one place after the IQR's leading digit, at most four digits."""
    step = _SECONDS.step_of(abs(median_seconds))
    size, prefix = _SECONDS.steps[step]
    decimals = _decimals(median_seconds / size, DIGITS)
    if iqr_seconds > 0:
        decimals = min(decimals, max(0, 1 - floor(log10(iqr_seconds / size))))
    median, iqr = (f"{value / size:.{decimals}f}" for value in (median_seconds, iqr_seconds))
    if iqr_seconds > 0 and float(iqr) == 0:
        iqr = f"<{NBSP}{10**-decimals:.{decimals}f}"
    return f"{median}{NBSP}{prefix}", f"{iqr}{NBSP}{prefix}"


def metric(result: MetricResult | None, *, like: Iterable[Number] = ()) -> str:
    """Write a measured number with its status: ``4.096 G``, ``≥ 3.871 G`` for a lower bound, ``—`` for none."""
    if result is None or result["known_value"] is None:
        return NONE
    number = text(result["known_value"], result["unit"], like=like)
    return number if result["status"] == "complete" else f"{AT_LEAST}{NBSP}{number}"


def metric_pair(before: MetricResult | None, after: MetricResult | None) -> tuple[str, str]:
    """Write two sides of one metric so that unequal numbers never print alike. A side that is not there is absent."""
    sides = (before, after)
    known = [side["known_value"] for side in sides if side is not None and side["known_value"] is not None]
    if before is not None and after is not None and len(known) == 2:
        numbers = pair(known[0], known[1], after["unit"])
        marks = [f"{AT_LEAST}{NBSP}" if side["status"] == "partial" else "" for side in (before, after)]
        return marks[0] + numbers[0], marks[1] + numbers[1]
    left, right = ("absent" if side is None else metric(side) for side in sides)
    return left, right


def ascii_text(written: str) -> str:
    """Replace our own signs for terminals that cannot print them. Other characters stay as they are."""
    return written.translate(_ASCII)
