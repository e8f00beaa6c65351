"""The receptive field of a call that does nothing but pass one tensor through the calls inside it, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchscan.crawl.estimate import SCOPE
from torchscan.crawl.record import Call
from torchscan.formulas.receptive import METRICS, POINT, Field, compose
from torchscan.report.analysis import METHODS, NOT_APPLICABLE, UNITS
from torchscan.report.metric import MetricResult, complete, unavailable

Results = Mapping[str, MetricResult]


def chained_field(call: Call, inner: Sequence[tuple[Call, Results]]) -> dict[str, MetricResult]:
    """Compose the fields of the inner calls, where they are a single chain and each has a field."""
    if not inner or not _is_chain(call, [step for step, _ in inner]):
        return _without(METHODS)
    field = POINT
    for _, results in inner:
        local = _field(results)
        if local is None:
            applies = all(results[metric]["method"] != NOT_APPLICABLE for metric in METRICS if metric in results)
            return _without(METHODS) if applies else _without(dict.fromkeys(METRICS, NOT_APPLICABLE))
        field = compose(field, local)
    return {
        metric: complete(value, unit=UNITS[metric], scope=SCOPE, method=METHODS[metric])
        for metric, value in zip(METRICS, field, strict=True)
    }


def _is_chain(call: Call, inner: list[Call]) -> bool:
    tally = call.tally
    if tally.flops or tally.moves or not tally.is_flops_complete:
        return False  # a residual add or a concatenation joins branches
    handed = [call.input_id, *(step.output_id for step in inner)]
    received = [*(step.input_id for step in inner), call.output_id]
    return handed == received


def _field(results: Results) -> Field | None:
    values = [results[metric]["value"] if metric in results else None for metric in METRICS]
    size, stride, padding = values
    return None if size is None or stride is None or padding is None else Field(size, stride, padding)


def _without(methods: Mapping[str, str]) -> dict[str, MetricResult]:
    return {metric: unavailable(unit=UNITS[metric], scope=SCOPE, method=methods[metric]) for metric in METRICS}
