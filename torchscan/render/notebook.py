"""A report as notebooks show it: a dict in every respect, and a card where a cell ends with it."""

from __future__ import annotations

from typing import Any, Protocol, cast

from torchscan.render.card import card_html, card_text
from torchscan.report.analysis import AnalysisReport
from torchscan.report.schema import check_analysis


class Printer(Protocol):
    """What IPython hands to ``_repr_pretty_``."""

    def text(self, text: str) -> None: ...


class NotebookReport(dict[str, Any]):
    """A report with IPython's display hooks. JSON and equality see a dict; pickles and copies are plain dicts.

    A dict that is no whole report any more, because its owner changed it, is shown as any dict.
    """

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return card_html(self._report()) if self._is_whole() else None

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:  # noqa: ARG002 # IPython's signature
        printer.text(card_text(self._report()) if self._is_whole() else repr(self))

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

    def _report(self) -> AnalysisReport:
        return cast("AnalysisReport", self)

    def _is_whole(self) -> bool:
        try:
            check_analysis(self)
        except ValueError:
            return False
        return True


def for_notebooks(report: AnalysisReport) -> AnalysisReport:
    """Give the same report with display hooks; its parts are shared, not copied."""
    return cast("AnalysisReport", NotebookReport(report))
