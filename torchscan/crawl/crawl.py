"""``crawl_module``: one observed inference forward, made into a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any, Literal

import torch
from torch import nn

from torchscan.crawl.assemble import Observation, assemble
from torchscan.crawl.estimator import Estimator
from torchscan.crawl.failure import teach
from torchscan.crawl.hooks import observed
from torchscan.crawl.inputs import Inputs, Shape, prepare_inputs
from torchscan.crawl.options import check_options
from torchscan.crawl.recorder import Recorder
from torchscan.crawl.strict import require_complete
from torchscan.crawl.tree import walk
from torchscan.crawl.undisturbed import undisturbed
from torchscan.formulas.handler import ModuleHandler
from torchscan.heap import settled_heap
from torchscan.operators.counter import OperatorCounter
from torchscan.render.notebook import for_notebooks
from torchscan.report.analysis import AnalysisReport


def crawl_module(
    module: nn.Module,
    input_shape: list[Shape] | Shape | None = None,
    dtype: torch.dtype | Iterable[torch.dtype] | None = None,
    *,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    device: str | torch.device | None = None,
    strict: bool = False,
    mode: Literal["full", "structure"] = "full",
    custom_modules: Mapping[type[nn.Module], ModuleHandler] | None = None,
    custom_mapping: Mapping[Any, Callable[..., int | float]] | None = None,
    formulas: Literal["extended", "native"] = "extended",
) -> AnalysisReport:
    """Collect a truthful, machine-readable report from one inference forward pass.

    Inputs are generated from ``input_shape`` (without the batch dimension), or are the caller's ``args`` and
    ``kwargs``. ``mode="structure"`` skips all compute estimates. Calls that share a module must not overlap: analysis
    changes its training state and hooks for the time of the forward. Equal parts of the report are one object: copy it
    before changing it.

    Args:
        module: what is analysed, wherever it lives; it is neither moved nor copied.
        input_shape: one shape, or one per positional tensor.
        dtype: of the generated tensors: one for all, or one per shape.
        args: positional arguments of the call, forwarded as they are.
        kwargs: keyword arguments of the call, forwarded as they are.
        device: of the generated tensors.
        strict: raise when a requested total is not complete.
        mode: ``full``, or ``structure`` for shapes, calls, parameters and buffers only.
        custom_modules: the caller's handlers by module type; the closest class in the MRO wins, before built-ins.
        custom_mapping: the caller's operator FLOP formulas by operator packet.
        formulas: ``extended``, or ``native`` for PyTorch's own operator formulas only.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: arguments exclude each other or hold unknown values.
        IncompleteAnalysisError: ``strict`` and a requested metric is not complete; ``.report`` is the whole report.
        BaseException: whatever the forward raises, unchanged; its ``torchscan_rows`` are the calls up to there.
    """
    check_options(module, mode, custom_modules)
    inputs = prepare_inputs(module, input_shape, dtype, args, kwargs, device)
    # Made in structure mode too, for the checks of its arguments.
    counter = OperatorCounter(formulas=formulas, custom_mapping=custom_mapping)
    with settled_heap():
        report = for_notebooks(assemble(_observe(module, inputs, counter if mode == "full" else None, custom_modules)))
    if strict:
        require_complete(report)
    return report


def _observe(
    module: nn.Module,
    inputs: Inputs,
    counter: OperatorCounter | None,
    custom_modules: Mapping[type[nn.Module], ModuleHandler] | None,
) -> Observation:
    """Run the one forward under observation."""
    nodes = walk(module)
    recorder = Recorder(counter, Estimator(custom_modules) if counter is not None else None)
    observation = Observation(nodes, recorder, counter, inputs, bool(module.training))
    kwargs = dict(inputs.kwargs)
    try:
        with undisturbed(nodes), observed(nodes, recorder) as root, counter or nullcontext():
            root.before(module, inputs.args, kwargs)
            output = module(*inputs.args, **kwargs)
            root.after(module, inputs.args, output)
    except BaseException as error:
        teach(error, observation)
        raise
    return observation
