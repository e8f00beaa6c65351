"""Make a text fit: shed what matters least, whole parts at a time, so that no table, fence or fold is cut in two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ci_action.render.view import ListView, View

COMMENT_BYTES = 60_000
"""GitHub refuses bodies over 65,536 characters; bytes are the safe measure, with room for what others append."""
SUMMARY_BYTES = 900_000
"""A step's summary over 1 MiB is dropped whole, and other steps' words may stand in it already."""


def fit(view: View, render: Callable[[View], str], *, most_bytes: int) -> str:
    """Render the fullest version that fits. Verdict, failures, marker and links are in every one of them.

    Raises:
        ValueError: where not even the barest version fits.
    """
    for candidate in _versions(view):
        text = render(candidate)
        if len(text.encode("utf-8")) <= most_bytes:
            return text
    raise ValueError(f"the shortest version of the report is longer than {most_bytes} bytes")


def _versions(view: View) -> Iterator[View]:
    """Yield ever smaller versions: unchanged targets go first, then layers, diagnostics, rows, and failures last."""
    yield view
    for kept in (100, 20, 0):
        view = replace(view, lists=tuple(_keep(part, kept) for part in view.lists))
        yield view
    view = replace(view, causes=view.causes[:5])
    yield view
    view = replace(view, causes=())
    yield view
    view = replace(view, has_logs=False)
    yield view
    view = replace(view, steps=(), reproduction="")
    yield view
    for kept in (200, 50, 10):
        view = replace(_keep_rows(view, kept), sentences=view.sentences[:kept])
        yield view
    for kept in (100, 20, 3):
        view = replace(_keep_failures(view, kept), sentences=view.sentences[: min(kept, 10)])
        yield view
    yield replace(_keep_rows(view, 3), sentences=())


def _keep(part: ListView, kept: int) -> ListView:
    cut = max(0, len(part.rows) - kept)
    return replace(part, rows=part.rows[:kept], hidden=part.hidden + cut)


def _keep_rows(view: View, kept: int) -> View:
    cut = max(0, len(view.rows) - kept)
    return replace(view, rows=view.rows[:kept], hidden_rows=view.hidden_rows + cut)


def _keep_failures(view: View, kept: int) -> View:
    cut = max(0, len(view.failures) - kept)
    return replace(view, failures=view.failures[:kept], hidden_failures=view.hidden_failures + cut)
