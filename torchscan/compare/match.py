"""Pairing of two reports' module calls: by full path and call index, in linear time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from torchscan.report.analysis import AnalysisReport, LayerReport

Side = Literal["before", "after"]
Identity = tuple[str, int]


def calls_by_identity(report: AnalysisReport, side: Side) -> dict[Identity, LayerReport]:
    """Index module calls by (path, call index), in report order.

    Raises:
        ValueError: an identity stands twice, so there is no telling which of the two a change belongs to.
    """
    calls: dict[Identity, LayerReport] = {}
    for layer in report["layers"]:
        identity = (layer["path"], layer["call_index"])
        if identity in calls:
            raise ValueError(f"{side}: call {identity[1]} of module {identity[0]!r} is listed twice in `layers`")
        calls[identity] = layer
    return calls


def pairs(
    before: AnalysisReport, after: AnalysisReport
) -> Iterator[tuple[Identity, LayerReport | None, LayerReport | None]]:
    """Yield every module call with its two sides: first the calls of ``after``, then those that only ``before`` has."""
    old, new = calls_by_identity(before, "before"), calls_by_identity(after, "after")
    for identity, layer in new.items():
        yield identity, old.get(identity), layer
    for identity, layer in old.items():
        if identity not in new:
            yield identity, layer, None
