"""The library's own errors. Errors of the model or the workload are never wrapped: they propagate unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchscan.report.analysis import AnalysisReport


class IncompleteAnalysisError(RuntimeError):
    """Raised when a strict analysis meets a requested metric that is not complete.

    Attributes:
        report: the whole report, so that what was measured is not lost.
    """

    def __init__(self, message: str, report: AnalysisReport) -> None:
        super().__init__(message)
        self.report = report
