"""Work that a call dispatched itself, outside every module with a formula, and the estimates that it leaves short."""

from __future__ import annotations

from collections.abc import Mapping

from torchscan.crawl.estimate import Note
from torchscan.crawl.record import Call
from torchscan.report.metric import MetricResult, partial

_HOOKED = ("module_flops", "dmas")
_NORMALIZATION = "norm"
"""Operators with this in their name accumulate squares: MACs by the module convention, though none by dispatch."""


def unestimated_metrics(call: Call, has_inner: bool) -> tuple[str, ...]:
    """Name the work metrics that a call without a formula has, beyond those of the calls inside it.

    Arithmetic is missing from FLOPs and DMAs, products also from MACs, a copy of values from DMAs. Elementwise work
    beside child calls leaves MACs whole. Of a leaf, nothing but the absence of all arithmetic makes MACs whole:
    recognized operators do not stand in for a module formula.
    """
    tally = call.tally
    if call.site.is_opaque or not call.is_done:
        return ("module_flops", "macs", "dmas")
    computes = bool(tally.flops) or not tally.is_flops_complete
    products = bool(tally.macs) or not tally.is_macs_complete or (computes and _normalizes(call))
    if products or (computes and not has_inner):
        return ("module_flops", "macs", "dmas")
    if computes:
        return ("module_flops", "dmas")
    return ("dmas",) if tally.moves else ()


def notes(call: Call, metrics: tuple[str, ...], has_inner: bool) -> tuple[Note, ...]:
    """Say why the metrics of a call are not complete."""
    kind = type(call.site.node.module).__name__
    if not call.is_done:
        return (Note("module_forward_error", "module_metrics", f"the forward of {kind} raised an exception"),)
    if call.site.is_opaque:
        message = f"{kind} runs where its calls cannot be observed, so its work is not fully counted"
        return (Note("opaque_module", "module_metrics", message),)
    if has_inner:
        message = f"{kind} computes beside the modules that it calls, and has no formula for that work"
        return tuple(Note("functional_work", metric, message) for metric in metrics)
    message = f"{kind} has no formula; pass custom_modules={{{kind}: ModuleHandler(...)}} to supply one"
    return tuple(Note("unsupported_module_metric", metric, message) for metric in metrics)


def without_hook_work(stated: Mapping[str, MetricResult]) -> Mapping[str, MetricResult]:
    """Turn a formula's FLOPs and DMAs into lower bounds: arithmetic of the module's own hooks comes on top."""
    return {
        metric: partial(known, unit=result["unit"], scope=result["scope"], method=result["method"])
        if metric in _HOOKED and (known := result["known_value"]) is not None
        else result
        for metric, result in stated.items()
    }


def hook_notes(call: Call) -> tuple[Note, ...]:
    """Say what a module's own hooks leave short."""
    message = f"a forward hook or pre-hook of {type(call.site.node.module).__name__} computes, and has no formula"
    return tuple(Note("functional_work", metric, message) for metric in _HOOKED)


def _normalizes(call: Call) -> bool:
    return any(_NORMALIZATION in name for name in call.site.operators or ())
