"""From a verdict to every text of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci_action.render import markdown
from ci_action.render.cleaning import with_clean_units, without_messages
from ci_action.render.pages import make_pages
from ci_action.render.rendered import Rendered
from ci_action.render.terminal import terminal
from ci_action.render.view import Results, build_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.facts import Facts
    from ci_action.core.plan import Plan
    from ci_action.core.spec import TargetResult
    from ci_action.core.verdict import Verdict


def render(verdict: Verdict, plan: Plan, facts: Facts, *, results: Sequence[TargetResult]) -> Rendered:
    """Write comment, summary, terminal text and pages from one view. ``results`` holds both sides' results."""
    by_side = Results.of(results)
    verdict = with_clean_units(without_messages(verdict) if facts.is_foreign else verdict)
    view = build_view(verdict, plan, facts, by_side)
    return Rendered(
        comment=markdown.comment(view),
        summary=markdown.summary(view),
        terminal=terminal(view, verdict, plan, facts),
        headline=view.plain_headline,
        pages=make_pages(view, verdict, plan, facts, by_side),
    )
