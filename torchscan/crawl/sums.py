"""A running total of results, with the status that the parts leave it."""

from __future__ import annotations

from torchscan.crawl.estimate import SCOPE
from torchscan.report.analysis import METHODS, UNITS
from torchscan.report.metric import MetricResult, Number, complete, partial, unavailable


class Sum:
    """All parts complete gives complete; any known part gives a lower bound; no part at all is a complete zero."""

    __slots__ = ("known", "measured", "seen", "whole")

    def __init__(self) -> None:
        self.known: Number = 0
        self.seen = self.measured = self.whole = 0

    def add(self, result: MetricResult) -> None:
        """Add one result."""
        self.seen += 1
        known = result["known_value"]
        if known is not None:
            self.known += known
            self.measured += 1
            self.whole += result["value"] is not None

    def add_unknown(self) -> None:
        """Add work of unknown size."""
        self.seen += 1

    def merge(self, other: Sum) -> None:
        """Add the parts of another sum."""
        self.known += other.known
        self.seen += other.seen
        self.measured += other.measured
        self.whole += other.whole

    def result(self, metric: str, scope: str = SCOPE) -> MetricResult:
        """Give the total as a result."""
        unit, method = UNITS[metric], METHODS[metric]
        if self.whole == self.seen:
            return complete(self.known, unit=unit, scope=scope, method=method)
        if self.measured:
            return partial(self.known, unit=unit, scope=scope, method=method)
        return unavailable_result(metric, scope)


def unavailable_result(metric: str, scope: str = SCOPE) -> MetricResult:
    """Say that there is no number for a metric."""
    return unavailable(unit=UNITS[metric], scope=scope, method=METHODS[metric])
