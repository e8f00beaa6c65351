"""Amounts as an owner types them ("5%", "2 M", "0.5 ms", "2 MiB") to numbers in the metric's base unit."""

from __future__ import annotations

import re
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ci_action.core.metrics import Quantity

_AMOUNT = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?)\s*(?P<unit>[^\s\d.+-][^\s]*)?", re.ASCII)
_SI = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
UNITS: Mapping[Quantity, Mapping[str, Decimal]] = MappingProxyType(
    {
        "count": {unit: Decimal(factor) for unit, factor in _SI.items()},
        "rate": {unit: Decimal(factor) for unit, factor in _SI.items()},
        "bytes": {unit: Decimal(1024**power) for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))},
        "seconds": {
            "ns": Decimal("1e-9"),
            "µs": Decimal("1e-6"),
            "us": Decimal("1e-6"),
            "ms": Decimal("1e-3"),
            "s": Decimal(1),
        },
    }
)
EXAMPLES: Mapping[Quantity, str] = MappingProxyType(
    {"count": '"2 M"', "rate": '"500" or "2 k"', "bytes": '"2 MiB"', "seconds": '"0.5 ms"'}
)


def parse_amount(text: str, quantity: Quantity) -> float:
    """Read an amount into FLOPs, MACs, parameters, bytes, seconds or units per second.

    Raises:
        ValueError: says what units are accepted, where the text is not a number with one of them.
    """
    units = UNITS[quantity]
    match = _AMOUNT.fullmatch(text.strip())
    unit = (match["unit"] or "") if match else ""
    unit = unit.replace("μ", "µ")  # Greek mu and the micro sign look alike on a keyboard
    if match is None or unit not in units:
        accepted = ", ".join(name or "no unit" for name in units)
        raise ValueError(f"a number and a unit ({accepted}), for example {EXAMPLES[quantity]}")
    return float(Decimal(match["number"]) * units[unit])


def parse_percent(text: str) -> float:
    """Read "5%" into 0.05.

    Raises:
        ValueError: where the text is not a number and a percent sign.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or match["unit"] != "%":
        raise ValueError('a percentage, for example "5%"')
    return float(Decimal(match["number"]) / 100)
