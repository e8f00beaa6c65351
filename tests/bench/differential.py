"""Differential runs over the zoo against FlopCounterMode, fvcore and torchinfo; a rule finds each difference's cause.

Runs under the interpreter that has the peers: ``PYTHONPATH=.:tests .peers/bin/python tests/bench/differential.py``
writes ``.github/docs/differences.md``. Every peer is asked about the same random model and inputs, in evaluation.
"""

from __future__ import annotations

import argparse
import json
import logging
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from differential_page import page
from fvcore_formulas import FORMULAS
from support.zoo import ZOO
from torch import nn

PAGE = Path(__file__).parents[2] / ".github" / "docs" / "differences.md"

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

Built = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
Answer = dict[str, Any]


def ours(built: Built) -> Answer:
    """Multiply-accumulates in all, by operator, by type of the layers that are leaves, and by path of those."""
    from torchscan import crawl_module
    from torchscan.operators.counter import OperatorCounter

    module, args, kwargs = built
    totals = crawl_module(module, args=args, kwargs=kwargs)["totals"]
    counter, watching, by_path = OperatorCounter(), OperatorCounter(), {}
    with torch.no_grad(), counter:
        module(*args, **kwargs)
    leaves = {path: child for path, child in module.named_modules() if not list(child.children())}
    hooks = [hook for path, leaf in leaves.items() for hook in _watch(leaf, path, watching, by_path)]
    with torch.no_grad(), watching:  # apart, since hooks close fast paths
        module(*args, **kwargs)
    for hook in hooks:
        hook.remove()
    by_layer: dict[str, int] = {}
    for path, macs in by_path.items():
        name = type(leaves[path]).__name__
        by_layer[name] = by_layer.get(name, 0) + macs
    entries = vars(counter)["_entries"].values()
    return {
        "macs": totals["operator_macs"]["value"],
        "parameters": totals["parameters"]["value"],
        "held": sum(
            held.numel() for child in module.modules() for held in child._parameters.values() if held is not None
        ),
        "called": sum(_own(leaves[path]) for path in by_path),
        "by_operator": {entry.name: entry.macs for entry in entries if entry.macs},
        "by_layer": by_layer,
        "by_path": {path: macs for path, macs in by_path.items() if macs},
    }


def _own(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _watch(leaf: nn.Module, path: str, counter: Any, by_path: dict[str, int]) -> list[Any]:
    """Add what a leaf's calls dispatch to its path, by the difference of the running total."""
    before: list[int] = []

    def start(*_: Any) -> None:
        before.append(counter.total.macs)

    def stop(*_: Any) -> None:
        by_path[path] = by_path.get(path, 0) + counter.total.macs - before.pop()

    return [leaf.register_forward_pre_hook(start), leaf.register_forward_hook(stop)]


def flop_counter_mode(built: Built) -> Answer:
    """PyTorch's counter, and the operators that it has formulas for."""
    from torch.utils.flop_counter import FlopCounterMode, flop_registry

    module, args, kwargs = built
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(*args, **kwargs)
    return {"flops": counter.get_total_flops(), "known": sorted(map(str, flop_registry))}


def fvcore(built: Built) -> Answer:
    """fvcore as it comes, and again with formulas for operators that it does not know."""
    from fvcore.nn import FlopCountAnalysis

    module, args, kwargs = built
    adapter = _Positional(module, tuple(kwargs))

    def run(formulas: Mapping[str, Any]) -> tuple[dict[str, float], list[str]]:
        analysis = FlopCountAnalysis(adapter, (*args, *kwargs.values()))
        analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False).tracer_warnings("none")
        for operator, formula in formulas.items():
            analysis.set_op_handle(operator, formula)
        counts = {name: float(count) for name, count in analysis.by_operator().items()}
        return counts, sorted(path.removeprefix("module.") for path, count in analysis.by_module().items() if count)

    taught, seen = run(FORMULAS)
    return {"by_operator": run({})[0], "taught": taught, "seen": seen}


class _Positional(nn.Module):
    """What tracing asks for: positional arguments, tensors in the output."""

    def __init__(self, module: nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        self.module, self.names = module, names

    def forward(self, *args: Any) -> Any:
        first = len(args) - len(self.names)
        output = self.module(*args[:first], **dict(zip(self.names, args[first:], strict=True)))
        leaves = torch.utils._pytree.tree_leaves(dict(output) if isinstance(output, Mapping) else output)
        return tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


def torchinfo(built: Built) -> Answer:
    """torchinfo's multiply-adds by type of its leaf layers, and its parameters."""
    import torchinfo

    module, args, kwargs = built
    result = torchinfo.summary(module, input_data=list(args), verbose=0, depth=100, device="cpu", mode="eval", **kwargs)
    by_layer: dict[str, int] = {}
    for layer in result.summary_list:
        if layer.is_leaf_layer:
            by_layer[layer.class_name] = by_layer.get(layer.class_name, 0) + layer.macs
    return {"macs": int(result.total_mult_adds), "parameters": int(result.total_params), "by_layer": by_layer}


TOOLS: Mapping[str, Callable[[Built], Answer]] = {
    "ours": ours,
    "FlopCounterMode": flop_counter_mode,
    "fvcore": fvcore,
    "torchinfo": torchinfo,
}


def asked(tool: str, name: str) -> Answer:
    """Build the model anew for each tool: a failed one may leave hooks behind."""
    try:
        module, args, kwargs = ZOO[name]()
        torch.manual_seed(1)
        return TOOLS[tool]((module.eval(), args, kwargs))
    except Exception as error:  # noqa: BLE001 # a peer's crash is a result
        return {"crash": type(error).__name__, "words": str(error).splitlines()[0][:100] if str(error) else ""}


def main() -> None:
    """Measure, or read an earlier measurement, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evidence", type=Path, help="JSON file of a measurement: read if it exists, else written")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    if options.evidence and options.evidence.exists():
        answers = json.loads(options.evidence.read_text(encoding="utf-8"))
    else:
        answers = {name: {tool: asked(tool, name) for tool in TOOLS} for name in ZOO}
        if options.evidence:
            options.evidence.write_text(json.dumps(answers, indent=1), encoding="utf-8")
    options.page.write_text(page(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
