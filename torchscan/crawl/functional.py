"""Work that a call dispatched itself, outside every module with a formula, and the estimates that it leaves short."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torchscan.crawl.estimate import Note
from torchscan.crawl.record import Call
from torchscan.formulas.table import atomic_base
from torchscan.operators.linear_algebra import FAMILY as SOLVERS
from torchscan.operators.table import row_for
from torchscan.operators.tally import Moment, Tally
from torchscan.report.metric import MetricResult, partial


def _named(names: str) -> frozenset[str]:
    return frozenset(f"aten.{name}" for name in names.split())


_NORMALIZATION = "norm"
"""Operators with this in their name accumulate squares: MACs by the module convention, though none by dispatch."""
_PRODUCTS = _named("mul pow square addcmul")
_SUMS = _named("sum mean nansum nanmean cumsum index_add scatter_add trace avg_pool1d avg_pool2d avg_pool3d "
               "_adaptive_avg_pool2d _adaptive_avg_pool3d")  # fmt: skip
"""Products that something of the same module sums may be accumulated: dot products and variances by hand."""
_ACCUMULATING = _named("var var_mean std std_mean addcmul addcdiv _embedding_bag _embedding_bag_forward_only")


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
    products = bool(tally.macs) or not tally.is_macs_complete or (computes and _may_accumulate(call))
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
    base = atomic_base(type(call.site.node.module))
    if base is not None:
        message = f"{kind} is not exactly a native {base}, so it counts as what runs inside it; pass custom_modules"
        return tuple(Note("expanded_atomic_boundary", metric, message) for metric in metrics)
    if has_inner:
        message = f"{kind} computes beside the modules that it calls, and has no formula for that work"
        return tuple(Note("functional_work", metric, message) for metric in metrics)
    message = f"{kind} has no formula; pass custom_modules={{{kind}: ModuleHandler(...)}} to supply one"
    return tuple(Note("unsupported_module_metric", metric, message) for metric in metrics)


def work_between(before: Moment, tally: Tally) -> tuple[str, ...]:
    """Name the work metrics that what was dispatched since then adds to."""
    now = tally.moment()
    if now[1] != before[1] or now[3] != before[3]:
        return ("module_flops", "macs", "dmas")
    if now[0] != before[0] or now[2] != before[2]:
        return ("module_flops", "dmas")
    return ("dmas",) if now[4] != before[4] else ()


def without_hook_work(stated: Mapping[str, MetricResult], hooked: Collection[str]) -> Mapping[str, MetricResult]:
    """Turn a formula's metrics into lower bounds where hooks add to them."""
    return {
        metric: partial(known, unit=result["unit"], scope=result["scope"], method=result["method"])
        if metric in hooked and (known := result["known_value"]) is not None
        else result
        for metric, result in stated.items()
    }


def hook_notes(call: Call) -> tuple[Note, ...]:
    """Say what a module's own hooks, and those of modules that its formula owns, leave short."""
    kind = type(call.site.node.module).__name__
    own = f"{kind} does work beside its forward, in hooks or for weights computed at each use, which has no formula"
    inner = f"a hook inside of {kind} computes, and the formula of {kind} does not know it"
    return (
        *(Note("functional_work", metric, own) for metric in dict.fromkeys(call.hook_work)),
        *(Note("expanded_atomic_boundary", metric, inner) for metric in dict.fromkeys(call.inner_hook_work)),
    )


def tell_owners(call: Call) -> None:
    """Let the native modules that own a call know what its hooks add: they were processed before by no one else."""
    above = call.parent
    while above is not None:
        if above.estimate is not None and above.estimate.subtree and not above.estimate.is_custom:
            above.inner_hook_work += tuple(metric for metric in call.hook_work if metric in above.estimate.subtree)
        above = above.parent


def exceeds_formula(call: Call, stated: Mapping[str, MetricResult]) -> bool:
    """Say whether a call dispatched more products than its formula has: then something else runs in it too."""
    known = stated["macs"]["value"] if "macs" in stated else None
    return known is not None and call.tally.macs > known


def _may_accumulate(call: Call) -> bool:
    names = set(call.site.operators or ())
    if names & _ACCUMULATING or (names & _PRODUCTS and names & _SUMS):
        return True
    return any(_NORMALIZATION in name or getattr(row_for(name), "family", None) == SOLVERS for name in names)
