"""One number with its status. The three constructors are the only way in, so an illegal state cannot be built."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Literal, TypedDict

Status = Literal["complete", "partial", "unavailable"]
Number = int | float


class MetricResult(TypedDict):
    """JSON-serializable result for one measurement.

    ``complete``: ``value == known_value``. ``partial``: ``value`` is null and ``known_value`` is a lower bound.
    ``unavailable``: both are null. ``unit``, ``scope`` and ``method`` say what the number counts, over what, and how.
    """

    status: Status
    value: Number | None
    known_value: Number | None
    unit: str
    scope: str
    method: str


def _finite(number: object, unit: str) -> Number:
    if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
        raise ValueError(f"a measured number of {unit} must be a finite int or float, got {number!r}")
    return number


def complete(value: Number, *, unit: str, scope: str, method: str) -> MetricResult:
    """Give a number that covers the whole of its scope."""
    known = _finite(value, unit)
    return {"status": "complete", "value": known, "known_value": known, "unit": unit, "scope": scope, "method": method}


def partial(known_value: Number, *, unit: str, scope: str, method: str) -> MetricResult:
    """Give a lower bound: some work of the scope was not counted."""
    known = _finite(known_value, unit)
    return {"status": "partial", "value": None, "known_value": known, "unit": unit, "scope": scope, "method": method}


def unavailable(*, unit: str, scope: str, method: str) -> MetricResult:
    """Say that there is no number at all."""
    return {"status": "unavailable", "value": None, "known_value": None, "unit": unit, "scope": scope, "method": method}


def total(parts: Iterable[MetricResult], *, unit: str, scope: str, method: str) -> MetricResult:
    """Add parts: all complete gives complete; any known part gives at least a lower bound; none gives unavailable.

    An empty sum is a complete zero: nothing was executed, so nothing is missing.
    """
    known: Number = 0
    seen = measured = whole = 0
    for part in parts:
        seen += 1
        whole += part["status"] == "complete"
        if part["known_value"] is not None:
            measured += 1
            known += part["known_value"]
    if whole == seen:
        return complete(known, unit=unit, scope=scope, method=method)
    if measured:
        return partial(known, unit=unit, scope=scope, method=method)
    return unavailable(unit=unit, scope=scope, method=method)
