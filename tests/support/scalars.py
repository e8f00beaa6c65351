"""Numbers that count what is done to them: a textbook algorithm written with them tells its own FLOPs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any


@dataclass
class Tally:
    """Operations so far."""

    operations: int = 0

    def number(self, value: float) -> Scalar:
        """Make a counting number."""
        return Scalar(float(value), self)

    def numbers(self, values: Any) -> list[Scalar]:
        """Make counting numbers of a flat sequence."""
        return [self.number(value) for value in values]


@dataclass(frozen=True)
class Scalar:
    """A number that adds one to its tally for each operation; constants take part for free."""

    value: float
    tally: Tally

    def _result(self, value: float) -> Scalar:
        self.tally.operations += 1
        return Scalar(value, self.tally)

    def __add__(self, other: Any) -> Scalar:
        return self._result(self.value + _plain(other))

    def __sub__(self, other: Any) -> Scalar:
        return self._result(self.value - _plain(other))

    def __rsub__(self, other: float) -> Scalar:
        return self._result(other - self.value)

    def __mul__(self, other: Any) -> Scalar:
        return self._result(self.value * _plain(other))

    def __truediv__(self, other: Any) -> Scalar:
        return self._result(self.value / _plain(other))

    def __rtruediv__(self, other: float) -> Scalar:
        return self._result(other / self.value)

    def __neg__(self) -> Scalar:
        return self._result(-self.value)

    def __abs__(self) -> Scalar:
        return self._result(abs(self.value))

    def __pow__(self, power: float) -> Scalar:
        return self._result(self.value**power)

    __radd__ = __add__
    __rmul__ = __mul__


def _plain(value: Any) -> float:
    return value.value if isinstance(value, Scalar) else value


def exp(x: Scalar) -> Scalar:
    """One operation, as every elementary function."""
    return x._result(math.exp(x.value))


def log(x: Scalar) -> Scalar:
    """Natural logarithm."""
    return x._result(math.log(x.value))


def log1p(x: Scalar) -> Scalar:
    """log(1 + x) as one elementary function."""
    return x._result(math.log1p(x.value))


def tanh(x: Scalar) -> Scalar:
    """Hyperbolic tangent."""
    return x._result(math.tanh(x.value))


def erf(x: Scalar) -> Scalar:
    """Error function."""
    return x._result(math.erf(x.value))


def sqrt(x: Scalar) -> Scalar:
    """Square root."""
    return x._result(math.sqrt(x.value))


def largest(x: Scalar, other: Any) -> Scalar:
    """One comparison that keeps the larger."""
    return x._result(max(x.value, _plain(other)))


def smallest(x: Scalar, other: Any) -> Scalar:
    """One comparison that keeps the smaller."""
    return x._result(min(x.value, _plain(other)))


def pick(condition: bool, chosen: Any, otherwise: Any, x: Scalar) -> Scalar:
    """One comparison of ``x`` that picks one of two values; both were computed."""
    return x._result(_plain(chosen if condition else otherwise))


def total(terms: list[Scalar]) -> Scalar:
    """K - 1 adds."""
    return reduce(lambda left, right: left + right, terms)


def dot(left: list[Scalar], right: list[Scalar]) -> Scalar:
    """K products and K - 1 adds."""
    return total([a * b for a, b in zip(left, right, strict=True)])
