"""What ran on each side, and whether two runs may be compared at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torchscan.compare.context import EXECUTION_FACTS, execution_differences, fact
from torchscan.render.labels import FIELDS
from torchscan.render.shapes import call_text, dtypes_and_devices
from torchscan.report.analysis import AnalysisReport

_SHOWN = (*EXECUTION_FACTS, "model_type", "training_before")


@dataclass(frozen=True, slots=True)
class Field:
    """One fact of the context. ``before`` is None without a comparison."""

    label: str
    before: str | None
    after: str
    differs: bool = False

    @property
    def change(self) -> str:
        return f"{self.label} {self.before} → {self.after}"


def context_fields(report: AnalysisReport, before: AnalysisReport | None) -> list[Field]:
    """List the facts of both sides, those that differ first."""
    fields = []
    forbidding = () if before is None else execution_differences(before, report)
    for name in _SHOWN:
        old, new = None if before is None else fact(before, name), fact(report, name)
        differs = name in forbidding or (before is not None and old != new)
        texts = (None if before is None else _text(old, name), _text(new, name))
        fields.append(Field(FIELDS[name], texts[0], texts[1], differs))
    return sorted(fields, key=lambda field: not field.differs)


def withheld(report: AnalysisReport, before: AnalysisReport | None) -> tuple[str, ...]:
    """Return what keeps execution costs from being compared, in words. Storage can be compared all the same."""
    if before is None:
        return ()
    forbidding = {FIELDS[name] for name in execution_differences(before, report)}
    return tuple(field.change for field in context_fields(report, before) if field.label in forbidding)


def _inputs(inputs: Mapping[str, Any]) -> str:
    """Write the call, the dtypes of its tensors, and who supplied them."""
    dtypes, _ = dtypes_and_devices([inputs.get("args", []), inputs.get("kwargs", {})])
    return ", ".join([call_text(inputs), *dtypes, str(inputs.get("source", "source not recorded"))])


def _text(value: Any, name: str) -> str:
    if value is None:
        return "not recorded"
    if name == "inputs":
        return _inputs(value) if isinstance(value, Mapping) else "not recorded"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(item).removeprefix("torch.") for item in value) or "none"
    return value if isinstance(value, str) else json.dumps(value)
