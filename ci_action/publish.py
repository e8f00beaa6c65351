"""Deliver a report in an order in which nothing that fails can hide what came before it [B21]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.verdict import Gate, Word
from ci_action.errors import PublishError
from ci_action.ports import RefusedError
from ci_action.sticky import REPLACED, Posted, post

if TYPE_CHECKING:
    from pathlib import Path

    from ci_action.core.config.entries import CommentMode
    from ci_action.core.plan import Plan
    from ci_action.core.verdict import Verdict
    from ci_action.ports import GitHub, Sink
    from ci_action.render.rendered import Rendered

SHORT_BYTES = 16_000
QUIET_WORDS = frozenset({Word.UNCHANGED, Word.WITHIN_NOISE})
PERMISSION = (
    "the token may not write comments here: grant the job `pull-requests: write`. Pull requests from forks and of "
    "Dependabot always get a token that can only read; the README's recipe for forks comments from a second workflow"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """Where the comment is, and the run's exit code after publishing."""

    comment_url: str
    exit_code: int


def deliver_files(rendered: Rendered, sink: Sink) -> Path:
    """Write the pages, the comment and the JSON; returns the index page."""
    for name, text in rendered.pages.items():
        sink.write_file(name, text)
    sink.write_file("comment.md", rendered.comment)
    return sink.write_file("summary.md", rendered.summary).with_name("index.html")


def deliver_words(
    rendered: Rendered,
    verdict: Verdict,
    plan: Plan,
    sink: Sink,
    github: GitHub | None,
    *,
    mode: CommentMode,
    require_comment: bool,
    is_of_this_run: bool = True,
) -> Delivered:
    """Write the summary, then the comment. A comment that cannot be written is a warning unless it was demanded.

    ``is_of_this_run``: the numbers are this run's own, so that no other job should have commented with its id.
    """
    sink.summary(rendered.summary)
    try:
        posted = _comment(rendered, verdict, plan, github, mode)
    except PublishError as error:
        sink.annotate("error" if require_comment else "warning", f"no comment was written: {explained(error)}")
        failed = PublishError.exit_code if require_comment else 0
        return Delivered(comment_url="", exit_code=verdict.exit_code or failed)
    if posted.note:
        sink.annotate("notice", posted.note)
    if posted.replaces_job and is_of_this_run:
        sink.annotate("warning", REPLACED)
    return Delivered(comment_url=posted.url or "", exit_code=verdict.exit_code)


def explained(error: PublishError) -> str:
    """The error as one sentence that says what to do."""
    if not isinstance(error, RefusedError):
        return str(error)
    accepted = f" (GitHub would accept: {error.permissions})" if error.permissions else ""
    if error.other_reason:
        return f"{error}: {error.other_reason}"
    if error.is_permission:
        return f"{error}: {PERMISSION}{accepted}"
    if error.status == 401:
        return f"{error}: the input token is not valid or has expired"
    if error.status == 404:
        return f"{error}: it is not there any more, or it is private and the token may not see it{accepted}"
    return str(error)


def wants_comment(verdict: Verdict, mode: CommentMode) -> bool:
    """Whether this outcome is worth a new comment by the owner's mode. An existing one is updated in any case."""
    rows = [row for target in verdict.targets for row in target.rows]
    changed = any(row.word not in QUIET_WORDS for row in rows) or any(target.failures for target in verdict.targets)
    return {
        "always": True,
        "on-change": changed,
        "on-failure": verdict.outcome in {Gate.FAIL, Gate.UNKNOWN},
        "never": False,
    }[mode]


def _comment(rendered: Rendered, verdict: Verdict, plan: Plan, github: GitHub | None, mode: CommentMode) -> Posted:
    if github is None or plan.pull_request is None or mode == "never":
        return Posted(url=None)
    number, only_update = plan.pull_request.number, not wants_comment(verdict, mode)
    try:
        return post(github, number, rendered.comment, only_update=only_update)
    except RefusedError as refusal:
        if refusal.status != 422:
            raise
        return post(github, number, shortened(rendered.comment), only_update=only_update)


def shortened(comment: str) -> str:
    """Everything before the first folded part: GitHub's real limit is not documented, so it may surprise [B2]."""
    visible = comment.partition("\n<details")[0].encode()[:SHORT_BYTES].decode("utf-8", errors="ignore")
    return f"{visible.rstrip()}\n\nThe rest did not fit: see the job summary.\n"
