"""The comment and the job summary: the same body, the comment with the hidden marker first."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from ci_action.render.escape import cell, code, summary_code
from ci_action.render.fit import COMMENT_BYTES, SUMMARY_BYTES, fit
from torchscan.render.templates import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment, Template

    from ci_action.render.rows import RowView
    from ci_action.render.view import View

_GAPS = re.compile(r"\n{3,}")


def comment(view: View) -> str:
    """Write the comment's body, at most 60,000 bytes of UTF-8."""
    room = COMMENT_BYTES - len(view.marker.encode("utf-8")) - 1
    return f"{view.marker}\n{fit(view, body, most_bytes=room)}"


def summary(view: View) -> str:
    """Write the job summary, well within the runner's 1 MiB."""
    return fit(view, body, most_bytes=SUMMARY_BYTES)


def body(view: View) -> str:
    """Write what a reader sees."""
    return _GAPS.sub("\n\n", _template().render(view=view)).strip() + "\n"


def rows_table(rows: Sequence[RowView]) -> str:
    """Write rows as the comment's table, byte for byte."""
    module = _environment().get_template("_macros.md.j2").module
    written: str = module.table(rows)  # type: ignore[attr-defined] # a macro of the template
    return written.strip() + "\n"


def lines(sentences: Sequence[str]) -> str:
    """Set one sentence as it is and several as a list: only comments break at a line's end, a summary does not."""
    return sentences[0] if len(sentences) == 1 else "\n".join(f"- {sentence}" for sentence in sentences)


@cache
def _template() -> Template:
    return _environment().get_template("comment.md.j2")


@cache
def _environment() -> Environment:
    # Markdown is not HTML: escaping is by the filters, and each name from a repository goes through one of them.
    jinja = environment("ci_action", autoescape=False)
    jinja.filters.update(cell=cell, code=code, summary_code=summary_code, lines=lines)
    return jinja
