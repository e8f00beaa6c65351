"""The RemoteRepository port: pull requests, ancestry and files over REST, for a job without a checkout."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ci_action.core.payload import SHA, mapping, read_pull_request, sha
from ci_action.errors import EventError, GitError, PublishError
from ci_action.ports import Comparison, RefusedError

if TYPE_CHECKING:
    from ci_action.core.event import PullRequest
    from ci_action.edges.github.api import Api

FILE_BYTES = 1 << 20
MOST_FILES = 3000
"""GitHub lists no more files of a pull request than this."""
STATUSES = frozenset({"ahead", "behind", "identical", "diverged"})


class RemoteRest:
    """One repository. Needs ``contents: read`` and ``pull-requests: read``."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._repository = repository

    def pulls_from(self, owner: str, branch: str) -> list[PullRequest]:
        """Open pull requests from a branch of a repository of ``owner``. One that is not whole is not one of them."""
        head = quote(f"{owner}:{branch}", safe="")
        found = []
        for item in self._api.pages(self._path(f"/pulls?state=open&head={head}&per_page=100")):
            try:
                found.append(read_pull_request(mapping(item, "pull"), "pull", repository=self._repository))
            except EventError:  # its fork is gone, or GitHub shows it in a form that we do not know: it proves nothing
                continue
        return found

    def compare(self, base: str, head: str) -> Comparison:
        """Hold two commits or branches against each other."""
        sides = f"{quote(base, safe='')}...{quote(head, safe='')}"
        body = self._object(f"/compare/{sides}?per_page=1")
        try:
            merge_base = sha(mapping(body.get("merge_base_commit"), "merge_base_commit").get("sha"), "merge base")
        except EventError as error:
            raise PublishError(f"GitHub's comparison of two commits lacks a part: {error}") from error
        if body.get("status") not in STATUSES:
            raise PublishError("GitHub's comparison of two commits has no status that its API describes")
        return Comparison(status=str(body["status"]), merge_base=merge_base)

    def parents(self, sha: str) -> list[str]:
        """The parents of a commit, first parent first; none where GitHub has forgotten it."""
        try:
            body = self._object(f"/commits/{_full(sha)}?per_page=1")
        except RefusedError as refusal:
            if refusal.status in {404, 422}:
                return []
            raise
        parents = body.get("parents")
        return [str(item.get("sha")) for item in parents if isinstance(item, dict)] if isinstance(parents, list) else []

    def read(self, sha: str, path: str) -> str | None:
        """A file's text at a commit; None if there is no such file. Raises GitError for what is no text file."""
        try:
            body = self._object(f"/contents/{quote(path, safe='')}?ref={_full(sha)}")
        except RefusedError as refusal:
            if refusal.status == 404:
                return None
            raise
        content = body.get("content")
        if body.get("type") != "file" or body.get("encoding") != "base64" or not isinstance(content, str):
            raise GitError(f"{path} at {sha[:12]} is not a regular file of at most {FILE_BYTES} bytes")
        try:
            return base64.b64decode(content).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise GitError(f"{path} at {sha[:12]} is not UTF-8 text") from error

    def changed_paths(self, number: int) -> list[str] | None:
        """Paths that a pull request touches, old and new names; None where GitHub does not list them all."""
        items = self._api.pages(self._path(f"/pulls/{number}/files?per_page=100"))
        if len(items) >= MOST_FILES:
            return None
        names = [item.get(key) for item in items if isinstance(item, dict) for key in ("filename", "previous_filename")]
        return [name for name in names if isinstance(name, str)]

    def _object(self, path: str) -> dict[str, Any]:
        body = self._api.call("GET", self._path(path)).body
        if not isinstance(body, dict):
            raise PublishError("GitHub's answer does not have the form that its API describes")
        return body

    def _path(self, path: str) -> str:
        return f"/repos/{self._repository}{path}"


def _full(sha: str) -> str:
    if not SHA.fullmatch(sha):
        raise GitError("a commit is named by its full id alone")
    return sha
