"""Notes made on the way become the report's diagnostics: each said once, where it first came up."""

from __future__ import annotations

from collections.abc import Iterable

from torchscan.crawl.aggregate import Row
from torchscan.crawl.estimate import ALL_METRICS, Note
from torchscan.crawl.record import Call
from torchscan.crawl.storage import StorageCount
from torchscan.report.diagnostic import Diagnostic

_ERRORS = frozenset(
    {
        "module_metric_error",
        "module_forward_error",
        "custom_handler_error",
        "custom_handler_invalid",
        "custom_metric_invalid",
    }
)


def call_diagnostics(noted: Iterable[tuple[Call, Iterable[Note]]]) -> list[Diagnostic]:
    """Turn the notes of calls into diagnostics. What repeats on a path, call after call, is said once."""
    said: set[tuple[str, Note]] = set()
    diagnostics: list[Diagnostic] = []
    for call, found in noted:
        for note in found:
            path = call.site.node.path
            if (path, note) not in said:
                said.add((path, note))
                diagnostics.append({**_diagnostic(note), "path": path, "call_index": call.index})
    return diagnostics


def row_notes(calls: list[Call], rows: list[Row]) -> list[tuple[Call, Iterable[Note]]]:
    """Give the notes of full analysis, in execution order."""
    return [(call, row.notes) for call, row in zip(calls, rows, strict=True) if row.notes]


def failures(calls: list[Call]) -> list[tuple[Call, Iterable[Note]]]:
    """Give a note for each call that raised: all that structure mode has to say about calls."""
    return [(call, (Note("module_forward_error", ALL_METRICS, _failed(call)),)) for call in calls if not call.is_done]


def storage_diagnostics(count: StorageCount) -> list[Diagnostic]:
    """Say what the storage totals leave out, and that sharded parameters count globally."""
    found: list[Diagnostic] = []
    if not count.is_complete:
        message = "a parameter or buffer has no shape yet, or is packed where it cannot be counted"
        found.append(_diagnostic(Note("uninitialized_parameter", "parameters", message)))
    if count.local_parameters is not None:
        message = f"parameters are sharded: {count.parameters} in all, {count.local_parameters} on this rank"
        found.append(_diagnostic(Note("sharded_parameter", "parameters", message)))
    return found


def opaque_diagnostics(foreign: Iterable[str], refused: Iterable[str]) -> list[Diagnostic]:
    """Name modules that ran in other threads, and those that take no hooks."""
    reasons = (
        (foreign, "the module ran in another thread, so its work is not counted"),
        (refused, "the module takes no hooks, so what it does is work of the module that calls it"),
    )
    return [
        {**_diagnostic(Note("opaque_module", ALL_METRICS, message)), "path": path}
        for paths, message in reasons
        for path in sorted(paths)
    ]


def _failed(call: Call) -> str:
    return f"the forward of {type(call.site.node.module).__name__} raised an exception"


def _diagnostic(note: Note) -> Diagnostic:
    severity = "error" if note.code in _ERRORS else "warning"
    return {"code": note.code, "severity": severity, "metric": note.metric, "message": note.message}  # type: ignore[typeddict-item]
