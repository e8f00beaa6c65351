"""What stands behind a row: every call with its shapes and exact numbers, methods, ownership and diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torchscan.render.fold import Block
from torchscan.render.labels import metric_label
from torchscan.render.shapes import call_text, dtypes_and_devices, shape_text
from torchscan.render.tree import Module
from torchscan.render.units import AT_LEAST, NBSP, NONE, exact
from torchscan.report.analysis import METHODS, LayerReport
from torchscan.report.diagnostic import Diagnostic
from torchscan.report.metric import MetricResult

_HELD = "parameters"
_HEADS = {"operator_flops": "Own operator FLOPs", _HELD: "Own parameters"}  # without what is below
_QUIET_METHODS = frozenset((*METHODS.values(), "not_requested", "not_applicable", "forward_hook"))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A small table and sentences. An integer is shown with every digit; all else is text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    notes: tuple[str, ...]

    @property
    def written(self) -> list[list[str]]:
        """The rows as text."""
        return [[cell if isinstance(cell, str) else exact(cell) for cell in row] for row in self.rows]


class EvidenceWriter:
    """Writes evidence, and remembers the text of descriptions that are one object or equal numbers."""

    def __init__(self, diagnostics: Mapping[str, Sequence[Diagnostic]], *, is_comparison: bool) -> None:
        self._diagnostics = diagnostics
        self._is_comparison = is_comparison
        self._shapes: dict[int, str] = {}
        self._held_on: dict[int, str] = {}
        self._heads: dict[tuple[str, ...], tuple[str, ...]] = {}

    def write(self, block: Block) -> Evidence:
        """Collect what is known of one block: of its first member, where it stands for a run."""
        module = block.module
        sides = self._sides(module)
        calls = [call for _, call in sides]
        metrics = tuple(dict.fromkeys([name for call in calls for name in _known(call)]))
        rows = tuple([self._row(side, call, metrics) for side, call in sides])
        return Evidence(
            columns=self._columns(metrics) if rows else (),
            rows=rows,
            notes=(*_members(block), *self._notes(block)),
        )

    def _columns(self, metrics: tuple[str, ...]) -> tuple[str, ...]:
        known = self._heads.get(metrics)
        if known is None:
            known = self._heads[metrics] = ("Call", "Input", "Output", *map(_head, metrics))
        return known

    def _sides(self, module: Module) -> list[tuple[str, LayerReport]]:
        """List the calls by side, equal ones once."""
        if not self._is_comparison:
            return [("", call) for call in module.calls]
        base = {call["call_index"]: call for call in module.base_calls}
        sides = []
        for call in module.calls:
            old = base.pop(call["call_index"], None)
            if old == call:
                sides.append(("both", call))
            else:
                sides += [*([("base", old)] if old is not None else []), ("head", call)]
        return sides + [("base", call) for call in base.values()]

    def _row(self, side: str, call: LayerReport, metrics: Sequence[str]) -> tuple[str | int, ...]:
        return (
            f"{call['call_index']} {side}" if side else str(call["call_index"]),
            self._once(self._shapes, call["input"], call_text),
            self._once(self._shapes, call["output"], shape_text),
            *[_exact(call, metric) for metric in metrics],
        )

    def _once(
        self, known: dict[int, str], described: Mapping[str, Any], write: Callable[[Mapping[str, Any]], str]
    ) -> str:
        text = known.get(id(described))
        if text is None:
            text = known[id(described)] = write(described)
        return text

    def _notes(self, block: Block) -> list[str]:
        module = block.module
        if not module.calls and not module.base_calls:
            return ["Registered, never run by itself: a container."]
        call = (module.calls or module.base_calls)[0]
        tensors = self._once(self._held_on, call["output"], _tensors)
        found = [note for note in (_storage(call), tensors, *_methods(call), *_owners(call)) if note]
        if "token_dependencies" in call:
            found.append(_dependencies(call["token_dependencies"]))
        said = [f"{each['code']}: {each['message'].rstrip('.')}." for each in self._diagnostics.get(module.path, ())]
        return found + list(dict.fromkeys(said))[:5]  # two metrics may lack the same thing


def _head(name: str) -> str:
    return _HEADS.get(name, metric_label(name))


def _known(call: LayerReport) -> list[str]:
    """Name what was measured of a call, its own parameters first."""
    own = call["parameters"].get(_HELD)
    held = [_HELD] if own is not None and own["known_value"] else []
    return held + [name for name, result in call["metrics"].items() if result["known_value"] is not None]


def _exact(call: LayerReport, name: str) -> str | int:
    result: MetricResult | None = (call["parameters"] if name == _HELD else call["metrics"]).get(name)
    if result is None:
        return "counted above" if name in call.get("metric_owners", ()) else NONE
    if result["known_value"] is None:
        return NONE
    known = result["known_value"]
    if result["status"] == "complete":
        return known if type(known) is int else exact(known)
    return f"{AT_LEAST}{NBSP}{exact(known)}"


def _members(block: Block) -> list[str]:
    if block.count == 1:
        return []
    first, last = block.members[0].path, block.members[-1].path
    return [f"Stands for {block.count} equal modules, {first} to {last}; numbers below are of one."]


def _storage(call: LayerReport) -> str:
    """Say how much of what a module holds is trained, where that is not all of it."""
    own, trainable = call["parameters"].get(_HELD), call["parameters"].get("trainable_parameters")
    if own is None or trainable is None or not own["known_value"]:
        return ""
    if trainable["known_value"] == own["known_value"]:
        return ""
    return f"{exact(trainable['known_value'] or 0)} of its parameters are trainable."


def _tensors(output: Mapping[str, Any]) -> str:
    dtypes, devices = dtypes_and_devices([output])
    return f"Output {', '.join(dtypes)} on {', '.join(devices)}." if dtypes else ""


def _methods(call: LayerReport) -> list[str]:
    return [
        f"{metric_label(name)}: method {result['method']}."
        for name, result in call["metrics"].items()
        if result["method"] not in _QUIET_METHODS
    ]


def _owners(call: LayerReport) -> list[str]:
    if "metric_owners" not in call and "metric_ownership" not in call:
        return []
    owned = [
        f"{metric_label(name)}: counted by {owner['path'] or 'the model'}, call {owner['call_index']}."
        for name, owner in call.get("metric_owners", {}).items()
    ]
    scopes = call.get("metric_ownership", {})
    subtree = [metric_label(name) for name, scope in scopes.items() if scope == "subtree"]
    return [*owned, *([f"Counts its whole subtree: {', '.join(subtree)}."] if subtree else [])]


def _dependencies(found: Mapping[str, Any]) -> str:
    if found.get("status") != "complete":
        return "Token dependencies: unavailable."
    sources = [_relation(source) for source in _listed(found.get("sources")) if isinstance(source, Mapping)]
    return f"Token dependencies: {'; '.join(sources) or 'none'}."


def _relation(source: Mapping[str, Any]) -> str:
    names = " and ".join(map(str, _listed(source.get("arguments"))))
    relation = source.get("relation")
    return f"{names}: {relation.get('kind', 'unknown') if isinstance(relation, Mapping) else 'unknown'}"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
