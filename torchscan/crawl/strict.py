"""``strict``: an analysis whose requested numbers are not all complete is an error that carries the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchscan.errors import IncompleteAnalysisError
from torchscan.report.analysis import NOT_APPLICABLE, NOT_REQUESTED, AnalysisReport

_SHOWN = 5


def require_complete(report: AnalysisReport, row_metrics: Sequence[str] = ()) -> None:
    """Check the totals, and the named metrics of each row.

    Raises:
        IncompleteAnalysisError: a requested metric is partial or unavailable.
    """
    missing = list(_incomplete(report, row_metrics))
    if not missing:
        return
    reasons = [each["message"] for each in report["diagnostics"]]
    message = "; ".join(
        (
            f"the analysis is incomplete: {_list(missing)}",
            f"because {_list(reasons)}" if reasons else "see the report's diagnostics",
            "the whole report is this error's `report`",
        )
    )
    raise IncompleteAnalysisError(message, report)


def _incomplete(report: AnalysisReport, row_metrics: Sequence[str]) -> Iterator[str]:
    for metric, result in report["totals"].items():
        if result["status"] != "complete" and result["method"] != NOT_REQUESTED:
            yield f"{metric} is {result['status']}"
    for layer in report["layers"]:
        for metric in row_metrics:
            found = layer["metrics"].get(metric)  # an owner's row holds what an owned row omits
            if found and found["status"] != "complete" and found["method"] != NOT_APPLICABLE:
                yield f"{metric} of {layer['path'] or 'the model'!r} is {found['status']}"


def _list(items: list[str]) -> str:
    shown = list(dict.fromkeys(items))
    more = [f"and {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return ", ".join([*shown[:_SHOWN], *more])
