"""Layer records: one for each call, in execution order."""

from __future__ import annotations

from torchscan.crawl.aggregate import Row
from torchscan.crawl.record import Call
from torchscan.crawl.storage import StorageCount, Storages
from torchscan.metadata.describe import Metadata
from torchscan.operators.counter import OperatorCounter
from torchscan.report.analysis import METHODS, UNITS, LayerReport
from torchscan.report.metric import MetricResult, complete, partial, unavailable

SCOPE = "module_call"
PARAMETER_METRICS = ("parameters", "trainable_parameters", "frozen_parameters", "parameter_bytes")
BUFFER_METRICS = ("buffer_elements", "buffer_bytes")
FAILED: Metadata = {"kind": "failed"}

Results = dict[str, MetricResult]
CALLED_ONCE: Results = {"calls": complete(1, unit="calls", scope=SCOPE, method="forward_hook")}
"""All that structure mode measures of a call: that it happened."""


def storage_result(metric: str, count: StorageCount, scope: str) -> MetricResult:
    """Give one number of a storage count: a lower bound when something held has no shape yet."""
    unit, method, value = UNITS[metric], METHODS[metric], getattr(count, metric)
    if count.is_complete:
        return complete(value, unit=unit, scope=scope, method=method)
    if count.is_known:
        return partial(value, unit=unit, scope=scope, method=method)
    return unavailable(unit=unit, scope=scope, method=method)


class LayerWriter:
    """Writes layer records. Equal parts of a report are one object: treat a report as read-only."""

    def __init__(self, storages: Storages, counter: OperatorCounter | None) -> None:
        self._storages = storages
        self._counter = counter
        self._stored: dict[int, tuple[Results, Results]] = {}
        self._counts: dict[StorageCount, tuple[Results, Results]] = {}
        self._operators: dict[tuple[int | float, bool], MetricResult] = {}

    def write(self, call: Call, row: Row | None) -> LayerReport:
        """Write the record of one call; ``row`` is None in structure mode."""
        node = call.site.node
        parameters, buffers = self._storage(call)
        record: LayerReport = {
            "path": node.path,
            "call_index": call.index,
            "name": node.name,
            "depth": node.depth,
            "type": type(node.module).__name__,
            "input": call.input,
            "output": call.output if call.output is not None else FAILED,
            "parameters": parameters,
            "buffers": buffers,
            "metrics": CALLED_ONCE if row is None else self._metrics(call, row),
        }
        if row is not None:
            _add_ownership(record, call, row)
        return record

    def _storage(self, call: Call) -> tuple[Results, Results]:
        module = call.site.node.module
        known = self._stored.get(id(module))
        if known is None:
            count = self._storages.of(module)
            known = self._counts.get(count)
            if known is None:
                parameters, buffers = (
                    {metric: storage_result(metric, count, SCOPE) for metric in metrics}
                    for metrics in (PARAMETER_METRICS, BUFFER_METRICS)
                )
                known = self._counts[count] = parameters, buffers
            self._stored[id(module)] = known
        return known

    def _metrics(self, call: Call, row: Row) -> Results:
        if self._counter is None:
            return {**row.metrics}
        tally = call.tally
        if call.site.is_opaque:
            tally.is_flops_complete = False
        key = tally.flops, tally.is_flops_complete
        known = self._operators.get(key)
        if known is None:
            known = self._operators[key] = self._counter.flops_metric(tally, SCOPE)
        return {**row.metrics, "operator_flops": known}


def _add_ownership(record: LayerReport, call: Call, row: Row) -> None:
    if row.owners:
        record["metric_owners"] = dict(row.owners)
    if row.ownership:
        record["metric_ownership"] = dict(row.ownership)
    if call.estimate is not None and call.estimate.token_dependencies is not None:
        record["token_dependencies"] = call.estimate.token_dependencies
