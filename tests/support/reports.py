"""Builders of reports. A model is a tree of nodes; the report lists its calls in execution order, totals add up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from torchscan.report.analysis import METHODS, UNITS, AnalysisReport, LayerReport
from torchscan.report.metric import MetricResult, complete, partial, total, unavailable

COMPUTE = ("module_flops", "macs", "dmas", "operator_flops")


@dataclass(frozen=True)
class Node:
    """One module: its own parameters and work, and the modules below it."""

    name: str
    type: str
    parameters: int = 0
    macs: int | None = 0
    output: tuple[int, ...] = (1, 8)
    children: tuple[Node, ...] = ()
    called: bool = True
    calls: int = 1

    def named(self, name: str) -> Node:
        return replace(self, name=name)


@dataclass(frozen=True)
class Model:
    """A tree and what the report says around it."""

    root: Node
    context: dict[str, Any] = field(default_factory=dict)
    diagnostics: tuple[dict[str, Any], ...] = ()


def walk(node: Node, path: str = "", depth: int = 0) -> Iterator[tuple[str, int, Node]]:
    yield path, depth, node
    for child in node.children:
        yield from walk(child, f"{path}.{child.name}" if path else child.name, depth + 1)


def result(metric: str, value: int | None, scope: str, known: int | None = None) -> MetricResult:
    """A complete metric, or with ``value=None`` a bound, or nothing at all."""
    facts = {"unit": UNITS[metric], "scope": scope, "method": METHODS[metric]}
    if value is not None:
        return complete(value, **facts)
    return unavailable(**facts) if known is None else partial(known, **facts)


def tensor(shape: Iterable[int], dtype: str = "torch.float32") -> dict[str, Any]:
    return {"kind": "tensor", "shape": list(shape), "dtype": dtype, "device": "cpu", "requires_grad": False}


def own_metrics(node: Node) -> dict[str, MetricResult]:
    macs = node.macs
    values = {
        "module_flops": None if macs is None else 2 * macs,
        "macs": macs,
        "dmas": None if macs is None else macs // 8 + node.parameters,
        "operator_flops": 2 * (macs or 0),
    }
    metrics = {name: result(name, values[name], "module_call") for name in COMPUTE}
    for name in ("receptive_field", "effective_stride", "effective_padding"):
        metrics[name] = unavailable(unit=UNITS[name], scope="module_call", method="not_applicable")
    return metrics


def layer(path: str, node: Node, depth: int, call_index: int = 0) -> LayerReport:
    """One call of one module. A container has no formula of its own: its estimate is its children's sum."""
    inside = [each for _, _, each in walk(node)]
    metrics = own_metrics(node)
    if node.children:
        for name in COMPUTE[:3]:
            parts = [own_metrics(each)[name] for each in inside if each.called and not each.children]
            metrics[name] = total(parts, unit=UNITS[name], scope="module_call", method=METHODS[name])
    trainable = node.parameters
    return {
        "path": path,
        "call_index": call_index,
        "name": node.name,
        "depth": depth,
        "type": node.type,
        "input": {"args": [tensor(node.output)], "kwargs": {}},
        "output": tensor(node.output),
        "parameters": {
            "parameters": result("parameters", trainable, "module"),
            "trainable_parameters": result("trainable_parameters", trainable, "module"),
            "frozen_parameters": result("frozen_parameters", 0, "module"),
            "parameter_bytes": result("parameter_bytes", 4 * trainable, "module"),
        },
        "buffers": {
            "buffer_elements": result("buffer_elements", 0, "module"),
            "buffer_bytes": result("buffer_bytes", 0, "module"),
        },
        "metrics": metrics,
    }


def make_report(root: Node, **changes: Any) -> AnalysisReport:
    """Report one forward of a tree. ``changes`` replace whole top-level keys; ``context`` is merged."""
    nodes = list(walk(root))
    layers = [
        layer(path, node, depth, call) for path, depth, node in nodes if node.called for call in range(node.calls)
    ]
    parameters = sum(node.parameters for _, _, node in nodes)
    totals = {
        "parameters": result("parameters", parameters, "model"),
        "trainable_parameters": result("trainable_parameters", parameters, "model"),
        "frozen_parameters": result("frozen_parameters", 0, "model"),
        "parameter_bytes": result("parameter_bytes", 4 * parameters, "model"),
        "buffer_elements": result("buffer_elements", 0, "model"),
        "buffer_bytes": result("buffer_bytes", 0, "model"),
    }
    leaves = [row for row, (_, _, node) in zip_calls(layers, nodes) if not node.children]
    for name in COMPUTE[:3]:
        parts = [row["metrics"][name] for row in leaves]
        totals[name] = total(parts, unit=UNITS[name], scope="model", method=METHODS[name])
    operators = [row["metrics"]["operator_flops"] for row in layers]
    totals["operator_flops"] = total(operators, unit="FLOPs", scope="model", method=METHODS["operator_flops"])
    known = totals["operator_flops"]["known_value"]
    totals["operator_macs"] = result("operator_macs", known // 2 if isinstance(known, int) else None, "model")
    report: AnalysisReport = {
        "schema_version": 1,
        "context": {
            "torchscan_version": "0.3.0",
            "torch_version": "2.13.0",
            "python_version": "3.11.7",
            "model_type": root.type,
            "execution_mode": "eval",
            "analysis_mode": "full",
            "training_before": True,
            "devices": ["cpu"],
            "dtypes": ["torch.float32"],
        },
        "inputs": {"source": "generated", "args": [tensor(root.output)], "kwargs": {}},
        "layers": layers,
        "totals": totals,
        "operator_flops": operator_report(totals["operator_flops"]),
        "diagnostics": [],
    }
    context = {**report["context"], **changes.pop("context", {})}
    return {**report, **changes, "context": context}  # type: ignore[typeddict-item]  # a test may break any key


def zip_calls(
    layers: list[LayerReport], nodes: list[tuple[str, int, Node]]
) -> Iterator[tuple[LayerReport, tuple[str, int, Node]]]:
    by_path = {path: (path, depth, node) for path, depth, node in nodes}
    return ((row, by_path[row["path"]]) for row in layers)


def operator_report(whole: MetricResult) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "context": {"torch_version": "2.13.0", "method": whole["method"], "counting_convention": "multiply and add"},
        "total": {**whole, "scope": "workload"},
        "by_module": {},
        "by_operator": {"aten.mm": whole["known_value"] or 0},
        "ignored_operators": [],
        "diagnostics": [],
    }


def linear(name: str, fan_in: int, fan_out: int, tokens: int = 128) -> Node:
    return Node(name, "Linear", fan_in * fan_out + fan_out, tokens * fan_in * fan_out, (1, tokens, fan_out))


def decoder_block(name: str, width: int = 256, *, formula: bool = True, hidden: int | None = None) -> Node:
    """A pre-norm Transformer block; ``formula=False`` leaves the attention itself without an estimate."""
    norm = Node("ln1", "LayerNorm", 2 * width, 128 * width, (1, 128, width))
    inner = hidden or 4 * width
    attention = Node(
        "attn",
        "Attention",
        children=(
            linear("qkv", width, 3 * width),
            Node("core", "ScaledDotProduct", 0, 2 * 128 * 128 * width if formula else None, (1, 128, width)),
            linear("out", width, width),
        ),
        output=(1, 128, width),
    )
    mlp = Node(
        "mlp",
        "Mlp",
        children=(
            linear("up", width, inner),
            Node("act", "GELU", 0, 128 * inner, (1, 128, inner)),
            linear("down", inner, width),
        ),
        output=(1, 128, width),
    )
    return Node(name, "Block", children=(norm, attention, norm.named("ln2"), mlp), output=(1, 128, width))


def decoder(blocks: int = 12, width: int = 256, *, formula: bool = True, wide: Iterable[int] = ()) -> Node:
    """A small language model. Blocks whose index is in ``wide`` have a doubled inner width."""
    doubled = set(wide)
    stack = tuple(
        decoder_block(str(index), width, formula=formula, hidden=8 * width if index in doubled else None)
        for index in range(blocks)
    )
    return Node(
        "tinylm",
        "TinyLM",
        children=(
            Node("embed", "Embedding", 8192 * width, 0, (1, 128, width)),
            Node("blocks", "ModuleList", children=stack, called=False),
            Node("norm", "LayerNorm", 2 * width, 128 * width, (1, 128, width)),
            linear("head", width, 8192),
        ),
        output=(1, 128, 8192),
    )


def small_net(channels: Iterable[int] = (8, 16, 16), *, formula: bool = True) -> Node:
    """A stem, a stage of convolutions and a classifier: small enough for a golden file."""
    wide = list(channels)
    stage = tuple(
        Node(str(at), "Conv2d", 9 * 8 * width + width, 16 * 16 * 9 * 8 * width, (1, width, 16, 16))
        for at, width in enumerate(wide)
    )
    return Node(
        "net",
        "SmallNet",
        children=(
            Node("stem", "Conv2d", 224, 194_400, (1, 8, 30, 30)),
            Node("stage", "Sequential", children=stage, output=(1, wide[-1], 16, 16)),
            Node("gate", "CustomGate", 64, 4_096 if formula else None, (1, wide[-1])),
            linear("head", 16, 10, tokens=1),
        ),
        output=(1, 10),
    )
