"""One comment per workflow and id: found by its marker and its author, updated, never repeated [B6-B11, S25]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ci_action.core.marker import Marker, parse_marker
from ci_action.core.outdated import marked_outdated
from ci_action.errors import PublishError
from ci_action.ports import RefusedError, UncertainError

if TYPE_CHECKING:
    from ci_action.ports import Author, Comment, GitHub, PullState

TRIES = 3
REPLACED = (
    "another job of this run had written this comment, and this job has replaced it, so only one of their reports is "
    "left: give each job a comment-id and an artifact-name of its own, such as `comment-id: ${{ matrix.os }}`, or let "
    "the jobs of a matrix measure (mode: measure) and one job comment for all (mode: merge)"
)

CLOSED = "the pull request is closed, so no new comment was written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """Where the comment is now, and a sentence where something other than a plain update happened.

    ``replaces_job``: what stood there was another report of the same run and attempt [B11].
    """

    url: str | None
    note: str = ""
    replaces_job: bool = False


def post(github: GitHub, number: int, body: str, *, only_update: bool = False) -> Posted:
    """Write ``body`` as the one comment of its marker. ``only_update``: stay silent where there is none yet.

    Raises PublishError; a failed listing never counts as "there is none".
    """
    marker = parse_marker(body)
    if marker is None:
        raise ValueError("the comment does not start with its marker")
    pull = github.pull_state(number)
    if pull.head_sha != marker.head_sha:
        return _superseded(github, number, marker, pull.head_sha)
    mine = _mine(github, number, marker)
    newer = next((comment for comment in mine if _is_newer(comment, marker)), None)
    if newer is not None:
        return Posted(url=newer.html_url, note="a newer run of the same commit has already written the comment")
    note = ""
    if mine:
        try:
            updated = _settle(github, mine, body)
        except RefusedError as refusal:
            if refusal.status != 403:
                raise
            updated, note = None, "the earlier comment may not be edited with this token, so a new one was written"
        if updated is not None:
            return Posted(url=updated.html_url, replaces_job=_is_of_another_job(mine, marker, body))
    if only_update and not note:
        return Posted(url=None)
    if not pull.is_open:  # closed or merged while its job ran: nobody waits for a new comment
        return Posted(url=None, note=CLOSED)
    return replace(_create(github, number, body, marker, pull), note=note)


def _superseded(github: GitHub, number: int, marker: Marker, now: str) -> Posted:
    """Write no numbers, but let no comment stand that looks as if it spoke of the newer head. Never an error [B10]."""
    note = f"the pull request has moved on to {now[:7]}, so these numbers were not written"
    try:
        for comment in _mine(github, number, marker):
            theirs = parse_marker(comment.body)
            if theirs is None or theirs.head_sha == now:
                continue
            body = marked_outdated(comment.body, measured_sha=theirs.head_sha, current_sha=now)
            if body is not None:
                github.update_comment(comment.id, body)
                note += f"; the comment of {theirs.head_sha[:7]} was marked as outdated"
    except PublishError as error:
        note += f"; whether an older comment stands there could not be settled: {error}"
    return Posted(url=None, note=note)


def _create(github: GitHub, number: int, body: str, marker: Marker, pull: PullState) -> Posted:
    """Create the comment once, although an answer may be lost and another job may do the same just now."""
    if pull.is_locked:
        raise PublishError("the conversation is locked, so no new comment was written; an earlier one would be updated")
    for attempt in range(1, TRIES + 1):
        try:
            created = github.create_comment(number, body)
        except UncertainError:
            if attempt == TRIES:
                raise
            github.pause(attempt)
            mine = _mine(github, number, marker)
            settled = _settle(github, mine, body) if mine else None
            if settled is not None:
                return Posted(url=settled.html_url, replaces_job=_is_of_another_job(mine, marker, body))
            continue
        rivals = [comment for comment in github.comments(number) if _is_rival(comment, created, marker)]
        kept = (_settle(github, [*rivals, created], body) if rivals else None) or created
        return Posted(url=kept.html_url, replaces_job=_is_of_another_job(rivals, marker, body))
    raise AssertionError("the last attempt returns or raises")


def _settle(github: GitHub, mine: list[Comment], body: str) -> Comment | None:
    """Of several own comments the oldest wins: it is written first, then the others go. None if it is gone."""
    winner, *losers = sorted(mine, key=lambda comment: comment.id)
    updated = github.update_comment(winner.id, body)
    if updated is None:
        return _settle(github, losers, body) if losers else None
    for loser in losers:
        github.delete_comment(loser.id)
    return updated


def _mine(github: GitHub, number: int, marker: Marker) -> list[Comment]:
    """Comments that carry our marker and that we wrote. We are asked for only where there is a candidate."""
    candidates = [comment for comment in github.comments(number) if _has_key(comment, marker)]
    if not candidates:
        return []
    author = github.author()
    return [comment for comment in candidates if _is_by(comment, author)]


def _is_of_another_job(comments: list[Comment], marker: Marker, body: str) -> bool:
    """Whether one of them is of our very run and attempt, yet not our own text that was sent twice."""
    return any(
        (theirs := parse_marker(comment.body)) is not None
        and marker.run_id > 0
        and (theirs.run_id, theirs.run_attempt) == (marker.run_id, marker.run_attempt)
        and comment.body.split() != body.split()  # GitHub may keep other line ends than were sent
        for comment in comments
    )


def _is_by(comment: Comment, author: Author | None) -> bool:
    """Check whether we wrote a comment. Where GitHub does not say who we are, nothing is ours until we have written."""
    if author is None:
        return False
    if author.id is not None:
        return author.id == comment.author_id
    return comment.is_by_app and author.login.lower() == comment.author_login.lower()


def _is_rival(comment: Comment, created: Comment, marker: Marker) -> bool:
    same_author = (comment.author_id, comment.author_login) == (created.author_id, created.author_login)
    return comment.id != created.id and same_author and _has_key(comment, marker)


def _has_key(comment: Comment, marker: Marker) -> bool:
    theirs = parse_marker(comment.body)
    return theirs is not None and theirs.is_same_comment(marker)


def _is_newer(comment: Comment, marker: Marker) -> bool:
    theirs = parse_marker(comment.body)
    return theirs is not None and theirs.head_sha == marker.head_sha and theirs.is_newer_than(marker)
