"""Receptive fields along a single chain of layers: what one layer adds, and how two layers compose."""

from __future__ import annotations

from typing import NamedTuple

from torchscan.formulas.handler import ModuleEstimates
from torchscan.report.analysis import NOT_APPLICABLE
from torchscan.report.metric import MetricResult, Number, unavailable


class Field(NamedTuple):
    """Receptive field of one output element, on one axis, in elements of the input.

    Attributes:
        size: input elements from the first to the last that reach one output element.
        stride: input elements between the windows of two neighbouring outputs.
        padding: how far the first window begins before the first input element.
    """

    size: Number
    stride: Number
    padding: Number


POINT = Field(1, 1, 0)
"""Each output element depends on the input element at its own position."""

METRICS = ("receptive_field", "effective_stride", "effective_padding")


def compose(previous: Field, local: Field) -> Field:
    """Give the field, in elements of the chain's input, of a layer that follows ``previous``.

    One step of the layer is ``previous.stride`` elements of the chain's input. A window of ``local.size`` steps thus
    spans ``(local.size - 1) * previous.stride`` elements beyond the one window of ``previous`` itself.
    """
    return Field(
        previous.size + (local.size - 1) * previous.stride,
        previous.stride * local.stride,
        previous.padding + local.padding * previous.stride,
    )


def spatial(local: Field) -> ModuleEstimates:
    """Give a layer's own field as estimates."""
    return {"receptive_field": local.size, "effective_stride": local.stride, "effective_padding": local.padding}


def local_field(estimates: ModuleEstimates) -> Field | None:
    """Read a layer's own field back from its estimates; None where one number per metric cannot describe it."""
    size, stride, padding = (estimates.get(metric) for metric in METRICS)
    if isinstance(size, int | float) and isinstance(stride, int | float) and isinstance(padding, int | float):
        return Field(size, stride, padding)
    return None


def _not_applicable() -> MetricResult:
    return unavailable(unit="elements", scope="module_call", method=NOT_APPLICABLE)


NOWHERE: ModuleEstimates = {
    "receptive_field": _not_applicable(),
    "effective_stride": _not_applicable(),
    "effective_padding": _not_applicable(),
}
"""The call has no spatial axis, or its windows differ between axes or positions: no number describes it.

``strict`` accepts the method ``not_applicable``: nothing is missing from the measurement.
"""
