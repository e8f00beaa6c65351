"""What ran on each side, and whether two runs may be compared at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torchscan.render.labels import FIELDS
from torchscan.render.shapes import call_text, dtypes_and_devices
from torchscan.report.analysis import AnalysisReport

MUST_AGREE = (
    "inputs",
    "execution_mode",
    "analysis_mode",
    "devices",
    "dtypes",
    "torch_version",
    "torchscan_version",
    "python_version",
)
"""Fields without which a difference of execution cost says nothing about the model."""

_SHOWN = (*MUST_AGREE, "model_type", "training_before")


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
    for name in _SHOWN:
        old, new = None if before is None else _value(before, name), _value(report, name)
        differs = before is not None and (old != new or (new is None and name in MUST_AGREE))
        texts = (None if before is None else _text(old, name), _text(new, name))
        fields.append(Field(FIELDS[name], texts[0], texts[1], differs))
    return sorted(fields, key=lambda field: not field.differs)


def withheld(report: AnalysisReport, before: AnalysisReport | None) -> tuple[str, ...]:
    """Name what forbids a comparison of execution cost. Storage compares all the same."""
    forbidding = {FIELDS[name] for name in MUST_AGREE}
    differing = [field for field in context_fields(report, before) if field.differs and field.label in forbidding]
    return tuple(field.change for field in differing)


def _value(report: AnalysisReport, name: str) -> Any:
    holder: Mapping[str, Any] = report["context"]
    return report["inputs"] if name == "inputs" else holder.get(name)


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
