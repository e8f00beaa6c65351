"""One table of the metrics that a report can hold: name in words, quantity, direction, and what measures it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from torchscan.report.analysis import COMPUTE_TOTALS, STORAGE_TOTALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ci_action.core.config.entries import Target

Quantity = Literal["count", "bytes", "seconds", "rate"]
Better = Literal["lower", "higher"]

HEADLINE_METRICS = ("parameters", "operator_flops", "operator_macs")
"""The metrics that can be complete on any model: they come first, in the comment and in ``init``'s config."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One total of a report. ``execution`` says that it belongs to one run of the model, not to what it stores."""

    name: str
    label: str
    quantity: Quantity
    better: Better = "lower"
    execution: bool = True
    timing: bool = False
    noise_floor: float = 0.0
    """What equal code may differ by, as a share: no limit may lie below it."""


_ALL = (
    Metric("parameters", "parameters", "count", execution=False),
    Metric("operator_flops", "operator FLOPs", "count"),
    Metric("operator_macs", "operator MACs", "count"),
    Metric("trainable_parameters", "trainable parameters", "count", execution=False),
    Metric("frozen_parameters", "frozen parameters", "count", execution=False),
    Metric("parameter_bytes", "parameter bytes", "bytes", execution=False),
    Metric("buffer_elements", "buffer elements", "count", execution=False),
    Metric("buffer_bytes", "buffer bytes", "bytes", execution=False),
    Metric("module_flops", "module FLOPs", "count"),
    Metric("macs", "module MACs", "count"),
    Metric("dmas", "module DMAs", "count"),
    Metric("latency", "latency", "seconds", timing=True),
    Metric("throughput", "throughput", "rate", better="higher", timing=True),
    Metric("peak_memory", "tensor peak", "bytes"),
    Metric("process_peak_rss", "process peak RSS", "bytes"),
    Metric("instructions", "instructions", "count", noise_floor=0.005),
)
METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _ALL})
"""In the order in which every report of ours shows them."""

BENCHMARK_METRICS = ("latency", "throughput", "peak_memory", "process_peak_rss", "instructions")
ANALYSIS_METRICS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "full": tuple(name for name in METRICS if name in {*STORAGE_TOTALS, *COMPUTE_TOTALS}),
        "structure": tuple(name for name in METRICS if name in STORAGE_TOTALS),
        "off": (),
    }
)


def label(name: str) -> str:
    """Say a metric's name in words; a name that is not ours is given back as it is."""
    return METRICS[name].label if name in METRICS else name


def measured_by(target: Target) -> tuple[str, ...]:
    """List the metrics that a target's entry asks for, in report order."""
    benchmark = target.benchmark.metrics if target.benchmark else ()
    return (*ANALYSIS_METRICS[target.analysis], *(name for name in BENCHMARK_METRICS if name in benchmark))
