"""What was recorded becomes the report. Nothing runs here, and equal records give equal bytes."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Any, Literal

import torch

from torchscan import __version__
from torchscan.crawl import diagnose
from torchscan.crawl.aggregate import Row, aggregate
from torchscan.crawl.by_module import operators_by_module
from torchscan.crawl.inputs import Inputs
from torchscan.crawl.recorder import Recorder
from torchscan.crawl.rows import LayerWriter, storage_result
from torchscan.crawl.storage import StorageCount, Storages
from torchscan.crawl.tree import Node
from torchscan.operators.counter import OperatorCounter
from torchscan.operators.tally import Tally
from torchscan.report.analysis import (
    COMPUTE_TOTALS,
    NOT_REQUESTED,
    STORAGE_TOTALS,
    UNITS,
    AnalysisReport,
    Context,
    LayerReport,
)
from torchscan.report.diagnostic import Diagnostic
from torchscan.report.flops import FlopReport
from torchscan.report.metric import MetricResult, partial, unavailable
from torchscan.report.schema import SCHEMA_VERSION

Mode = Literal["full", "structure"]
SCOPE = "model"
EXECUTION_MODE = "eval_no_grad"


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that one observed forward left.

    Attributes:
        counter: the operator counter of full mode, None in structure mode.
        training_before: the root's training flag as the caller had it.
    """

    nodes: list[Node]
    recorder: Recorder
    counter: OperatorCounter | None
    inputs: Inputs
    training_before: bool

    @property
    def mode(self) -> Mode:
        return "structure" if self.counter is None else "full"

    @property
    def is_blind(self) -> bool:
        """Some module ran where operators cannot be seen."""
        return bool(self.recorder.foreign) or any(call.site.is_opaque for call in self.recorder.calls)


def layers_so_far(observation: Observation) -> list[LayerReport]:
    """Write the records of the calls noted until now: what an exception of the forward carries."""
    calls = observation.recorder.calls
    rows = aggregate(calls)[0] if observation.mode == "full" else None
    return _layers(observation, rows, _storages(observation))


def assemble(observation: Observation) -> AnalysisReport:
    """Make the report of a forward that returned."""
    calls, recorder = observation.recorder.calls, observation.recorder
    storages = _storages(observation)
    storage = storages.total()
    diagnostics = diagnose.storage_diagnostics(storage) + diagnose.opaque_diagnostics(
        recorder.foreign, recorder.refused
    )
    totals = _storage_totals(storage)
    rows: list[Row] | None = None
    if observation.counter is None:
        operators = _no_operators()
        totals |= {metric: _not_requested(metric) for metric in COMPUTE_TOTALS}
        diagnostics += diagnose.call_diagnostics(diagnose.failures(calls))
    else:
        rows, sums = aggregate(calls)
        if recorder.foreign:
            for total in sums.values():
                total.add_unknown()
        operators = observation.counter.report(by_module=operators_by_module(observation.nodes[0].module, calls))
        if observation.is_blind:
            operators["total"] = _lower_bound(operators["total"])
        totals |= {metric: total.result(metric, SCOPE) for metric, total in sums.items()}
        totals["operator_flops"] = {**operators["total"], "scope": SCOPE}
        totals["operator_macs"] = observation.counter.macs_metric(_whole_tally(observation), SCOPE)
        diagnostics += diagnose.call_diagnostics(diagnose.row_notes(calls, rows))
        diagnostics += operators["diagnostics"]
    return {
        "schema_version": SCHEMA_VERSION,
        "context": _context(observation, storages),
        "inputs": _inputs(observation),
        "layers": _layers(observation, rows, storages),
        "totals": totals,
        "operator_flops": operators,
        "diagnostics": diagnostics,
    }


def _storages(observation: Observation) -> Storages:
    return Storages(node.module for node in observation.nodes)


def _layers(observation: Observation, rows: list[Row] | None, storages: Storages) -> list[LayerReport]:
    calls, writer = observation.recorder.calls, LayerWriter(storages, observation.counter)
    if rows is None:
        return [writer.write(call, None) for call in calls]
    return [writer.write(call, row) for call, row in zip(calls, rows, strict=True)]


def _context(observation: Observation, storages: Storages) -> Context:
    tensors = storages.tensors()
    return {
        "torchscan_version": __version__,
        "torch_version": torch.__version__,
        "python_version": platform.python_version(),
        "model_type": type(observation.nodes[0].module).__name__,
        "execution_mode": EXECUTION_MODE,
        "analysis_mode": observation.mode,
        "training_before": observation.training_before,
        "devices": sorted({str(device) for device in {tensor.device for tensor in tensors}}),
        "dtypes": sorted({str(dtype) for dtype in {tensor.dtype for tensor in tensors}}),
    }


def _inputs(observation: Observation) -> Any:
    described = observation.recorder.calls[0].input
    return {"source": observation.inputs.source, "args": described["args"], "kwargs": described["kwargs"]}


def _storage_totals(count: StorageCount) -> dict[str, MetricResult]:
    totals = {metric: storage_result(metric, count, SCOPE) for metric in STORAGE_TOTALS}
    if count.local_parameters is not None:
        totals["local_parameters"] = {
            **totals["parameters"],
            "value": count.local_parameters,
            "known_value": count.local_parameters,
            "scope": "this_rank",
        }
    return totals


def _whole_tally(observation: Observation) -> Tally:
    whole = Tally()
    for call in observation.recorder.calls:
        whole.macs += call.tally.macs
        whole.is_macs_complete &= call.tally.is_macs_complete
    whole.is_macs_complete &= not observation.is_blind
    return whole


def _lower_bound(result: MetricResult) -> MetricResult:
    if result["known_value"] is None:
        return result
    return partial(result["known_value"], unit=result["unit"], scope=result["scope"], method=result["method"])


def _not_requested(metric: str) -> MetricResult:
    return unavailable(unit=UNITS[metric], scope=SCOPE, method=NOT_REQUESTED)


def _no_operators() -> FlopReport:
    diagnostics: list[Diagnostic] = []
    return {
        "schema_version": SCHEMA_VERSION,
        "context": {
            "torch_version": torch.__version__,
            "method": NOT_REQUESTED,
            "counting_convention": NOT_REQUESTED,
        },
        "total": _not_requested("operator_flops"),
        "by_module": {},
        "by_operator": {},
        "ignored_operators": [],
        "diagnostics": diagnostics,
    }
