"""Say the gate beside a commit: as a commit status, or as a check run with the report on its own page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ci_action.edges.github.api import Api
    from ci_action.ports import CommitStatus

HEADLINE_CHARACTERS = 140
"""What GitHub takes as the description of a status."""
TEXT_BYTES = 60_000
"""GitHub takes 65,535 bytes as the summary of a check run."""


class ChecksRest:
    """Statuses (``statuses: write``) and check runs (``checks: write``) of one repository."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._repository = repository

    def set_status(self, sha: str, status: CommitStatus) -> None:
        """Write a commit status: a later one of the same name replaces it. Raises PublishError."""
        ended = "success" if status.is_passed else "failure" if status.is_known else "error"
        state = "pending" if status.is_pending else ended
        body: dict[str, Any] = {"state": state, "context": status.name, "description": _cut(status.headline)}
        if status.url:
            body["target_url"] = status.url
        self._api.call("POST", f"/repos/{self._repository}/statuses/{sha}", body=body)

    def create_check(self, sha: str, status: CommitStatus) -> None:
        """Write a finished check run. Raises PublishError."""
        text = status.text.encode()[:TEXT_BYTES].decode("utf-8", errors="ignore")
        body: dict[str, Any] = {
            "name": status.name,
            "head_sha": sha,
            "status": "completed",
            "conclusion": "success" if status.is_passed else "failure",
            "output": {"title": _cut(status.headline), "summary": text or _cut(status.headline)},
        }
        if status.url:
            body["details_url"] = status.url
        self._api.call("POST", f"/repos/{self._repository}/check-runs", body=body)


def _cut(text: str) -> str:
    return text if len(text) <= HEADLINE_CHARACTERS else f"{text[: HEADLINE_CHARACTERS - 1]}…"
