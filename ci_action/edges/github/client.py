"""The GitHub port: the few REST calls that one sticky comment needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ci_action.errors import PublishError
from ci_action.ports import Author, Comment, PullState, RefusedError, TimelineEvent

if TYPE_CHECKING:
    from ci_action.edges.github.api import Api

JOB_LOGIN = "github-actions[bot]"
JOB_ID = 41898282
"""Of that account on github.com (https://api.github.com/users/github-actions[bot]); another server has its own."""
TIMELINE_KINDS = frozenset({"labeled", "unlabeled", "head_ref_force_pushed"})
LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?")


class GitHubRest:
    """Comments of one repository. ``is_job_token``: the token is the job's own, ``is_installation``: some app's."""

    def __init__(self, api: Api, repository: str, *, is_installation: bool = True, is_job_token: bool = True) -> None:
        self._api = api
        self._repository = repository
        self._is_installation = is_installation
        self._is_job_token = is_job_token

    def pull_state(self, number: int) -> PullState:
        """Return what a pull request is now. Merged counts as closed, as GitHub itself has it."""
        pull = _mapping(self._api.call("GET", f"/repos/{self._repository}/pulls/{number}").body)
        return PullState(
            head_sha=_text(_mapping(pull.get("head")).get("sha")),
            is_open=_text(pull.get("state")) == "open",
            is_locked=pull.get("locked") is True,
        )

    def comments(self, number: int) -> list[Comment]:
        """All comments, oldest first, over all pages."""
        return [_comment(item) for item in self._api.pages(self._list_of(number, "comments"))]

    def create_comment(self, number: int, body: str) -> Comment:
        """Create a comment. Raises UncertainError where it may exist although the answer was lost."""
        path = f"/repos/{self._repository}/issues/{number}/comments"
        return _comment(self._api.call("POST", path, body={"body": body}, is_repeatable=False).body)

    def update_comment(self, comment_id: int, body: str) -> Comment | None:
        """Replace a comment's body; None if it is gone."""
        path = f"/repos/{self._repository}/issues/comments/{comment_id}"
        try:
            return _comment(self._api.call("PATCH", path, body={"body": body}).body)
        except RefusedError as refusal:
            if refusal.status in {404, 410}:
                return None
            raise

    def delete_comment(self, comment_id: int) -> None:
        """Delete a comment; gone already is fine."""
        try:
            self._api.call("DELETE", f"/repos/{self._repository}/issues/comments/{comment_id}")
        except RefusedError as refusal:
            if refusal.status not in {404, 410}:
                raise

    def author(self) -> Author | None:
        """As whom this token writes; None if GitHub will not say. Apps cannot ask /user, so they ask GraphQL [B8]."""
        if self._is_job_token:
            return Author(id=JOB_ID if self._is_dot_com else None, login=JOB_LOGIN)
        try:
            return self._viewer() if self._is_installation else self._user()
        except PublishError:
            return None

    def timeline(self, number: int) -> list[TimelineEvent]:
        """Labels set and taken away, and forced pushes, oldest first."""
        found = [_timeline_event(item) for item in self._api.pages(self._list_of(number, "timeline"))]
        return [event for event in found if event is not None]

    def can_write(self, login: str) -> bool:
        """Whether somebody may write to the repository."""
        if not LOGIN.fullmatch(login):
            return False
        try:
            path = f"/repos/{self._repository}/collaborators/{login}/permission"
            return _mapping(self._api.call("GET", path).body).get("permission") in {"admin", "write"}
        except RefusedError as refusal:
            if refusal.status == 404:
                return False
            raise

    def _list_of(self, number: int, kind: str) -> str:
        return f"/repos/{self._repository}/issues/{number}/{kind}?per_page=100"

    def pause(self, attempt: int) -> None:
        """Wait a little before the same thing is tried again."""
        self._api.pause(attempt)

    def _user(self) -> Author:
        user = _mapping(self._api.call("GET", "/user").body)
        return Author(id=_number(user.get("id")), login=_text(user.get("login")))

    def _viewer(self) -> Author | None:
        if not self._is_dot_com:
            return None  # on GHES GraphQL lies outside the base URL, and the token stays inside
        answer = self._api.call("POST", "/graphql", body={"query": "query{viewer{login}}"})
        viewer = _mapping(_mapping(_mapping(answer.body).get("data")).get("viewer"))
        login = _text(viewer.get("login"))
        return Author(id=None, login=login if login.endswith("[bot]") else f"{login}[bot]")

    @property
    def _is_dot_com(self) -> bool:
        return self._api.base_url == "https://api.github.com"


def _comment(item: Any) -> Comment:
    comment = _mapping(item)
    user = comment.get("user")
    author = _mapping(user) if user is not None else {}
    return Comment(
        id=_number(comment.get("id")),
        body=comment["body"] if isinstance(comment.get("body"), str) else "",
        author_id=author.get("id") if isinstance(author.get("id"), int) else None,
        author_login=author["login"] if isinstance(author.get("login"), str) else "",
        html_url=comment["html_url"] if isinstance(comment.get("html_url"), str) else "",
        is_by_app=author.get("type") == "Bot",
    )


def _timeline_event(item: Any) -> TimelineEvent | None:
    event = _mapping(item)
    kind, at = event.get("event"), event.get("created_at")
    if kind not in TIMELINE_KINDS or not isinstance(at, str):
        return None
    label, actor = event.get("label"), event.get("actor")
    name = label.get("name") if isinstance(label, dict) else None
    login = actor.get("login") if isinstance(actor, dict) else None
    return TimelineEvent(
        kind=str(kind),
        label=name if isinstance(name, str) else "",
        actor=login if isinstance(login, str) else "",
        at=at,
    )


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PublishError("GitHub's answer does not have the form that its API describes")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PublishError("GitHub's answer lacks a text that its API describes")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise PublishError("GitHub's answer lacks a number that its API describes")
    return value
