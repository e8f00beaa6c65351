"""Files and differences of commits by GitHub's git trees: modes and ids, exactly as git itself has them.

The contents API would follow a symbolic link, and the comparison API lists at most 300 files and only from the place
where both sides parted (https://docs.github.com/rest/repos/contents, https://docs.github.com/rest/commits/commits).
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ci_action.core.config.committed import ABSENT, MAX_BYTES, TOO_LARGE, CommittedFile, committed, kind_problem
from ci_action.core.payload import SHA
from ci_action.errors import PublishError
from ci_action.ports import GoneError, RefusedError

if TYPE_CHECKING:
    from ci_action.edges.github.api import Api

FOLDER = "040000"
PUSH = "push to the pull request, so that it is measured again"
GONE = frozenset({404, 409, 422})
MAX_TREES = 60
"""Requests for one difference where GitHub lists the trees only in part (over 100,000 entries or 7 MB)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a tree. Two files are equal where both fields are."""

    mode: str
    sha: str


class _OverBudgetError(Exception):
    """The difference would take too many requests."""


class TreesRest:
    """The trees and blobs of one repository. Each is asked for once. Needs ``contents: read``."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._repository = repository
        self._listed: dict[tuple[str, bool], dict[str, Entry] | None] = {}
        self._blobs: dict[str, CommittedFile] = {}

    def read(self, commit: str, path: str) -> CommittedFile:
        """Return what a commit has at a path. A link or a submodule on the way to it means that nothing is there."""
        *folders, name = path.split("/")
        tree = commit
        for folder in folders:
            entry = self._folder(tree).get(folder)
            if entry is None or entry.mode != FOLDER:
                return ABSENT
            tree = entry.sha
        entry = self._folder(tree).get(name)
        if entry is None:
            return ABSENT
        if problem := kind_problem(entry.mode):
            return CommittedFile(problem=problem)
        return self._blob(entry.sha)

    def changed(self, one: str, other: str) -> set[str] | None:
        """Return the paths whose content or mode differs between two commits; None where that takes too many requests.

        Two requests, whatever the size of the difference, unless the repository is too large for one listing.
        """
        whole = [self._list(sha, recursive=True) for sha in (one, other)]
        if whole[0] is not None and whole[1] is not None:
            return _differing(whole[0], whole[1])
        try:
            return self._walked(one, other)
        except _OverBudgetError:
            return None

    def _walked(self, one: str, other: str) -> set[str]:
        """Go down only where two folders differ."""
        found: set[str] = set()
        waiting: list[tuple[str, str | None, str | None]] = [("", one, other)]
        asked = 0
        while waiting:
            prefix, *sides = waiting.pop()
            asked += len(sides)
            if asked > MAX_TREES:
                raise _OverBudgetError
            old, new = ({} if sha is None else self._folder(sha) for sha in sides)
            for name in {**old, **new}:
                was, now = old.get(name), new.get(name)
                if was == now:
                    continue
                folders = (_folder_sha(was), _folder_sha(now))
                if any(folders):
                    waiting.append((f"{prefix}{name}/", *folders))
                if any(entry and entry.mode != FOLDER for entry in (was, now)):
                    found.add(f"{prefix}{name}")
        return found

    def _folder(self, tree: str) -> dict[str, Entry]:
        listed = self._list(tree, recursive=False)
        if listed is None:
            raise PublishError("GitHub lists a folder of this repository only in part: it has too many entries")
        return listed

    def _list(self, tree: str, *, recursive: bool) -> dict[str, Entry] | None:
        """Return a tree's entries by path; None where GitHub lists only some of them."""
        if (tree, recursive) not in self._listed:
            body = self._object(f"/git/trees/{tree}{'?recursive=1' if recursive else ''}", f"commit {tree[:12]}")
            items = body.get("tree")
            if not isinstance(items, list) or not all(map(_is_entry, items)):
                raise PublishError("GitHub's list of a tree does not have the form that its API describes")
            entries = {item["path"]: Entry(item["mode"], item["sha"]) for item in items}
            self._listed[tree, recursive] = None if body.get("truncated") is not False else entries
        return self._listed[tree, recursive]

    def _blob(self, sha: str) -> CommittedFile:
        if sha not in self._blobs:
            body = self._object(f"/git/blobs/{sha}", f"blob {sha[:12]}")
            size, content = body.get("size"), body.get("content")
            if isinstance(size, int) and size > MAX_BYTES:
                self._blobs[sha] = TOO_LARGE
            else:
                self._blobs[sha] = committed(_decoded(content, body.get("encoding")))
        return self._blobs[sha]

    def _object(self, path: str, what: str) -> dict[str, Any]:
        try:
            body = self._api.call("GET", f"/repos/{self._repository}{path}").body
        except RefusedError as refusal:
            if refusal.status in GONE:
                raise GoneError(f"{what} is not in {self._repository} any more: {PUSH}") from refusal
            raise
        if not isinstance(body, dict):
            raise PublishError("GitHub's answer does not have the form that its API describes")
        return body


def _folder_sha(entry: Entry | None) -> str | None:
    return entry.sha if entry and entry.mode == FOLDER else None


def _is_entry(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    path, mode, sha = item.get("path"), item.get("mode"), item.get("sha")
    return isinstance(path, str) and isinstance(mode, str) and isinstance(sha, str) and SHA.fullmatch(sha) is not None


def _differing(old: dict[str, Entry], new: dict[str, Entry]) -> set[str]:
    sides = [{path: entry for path, entry in side.items() if entry.mode != FOLDER} for side in (old, new)]
    return {path for path in {**sides[0], **sides[1]} if sides[0].get(path) != sides[1].get(path)}


def _decoded(content: object, encoding: object) -> bytes:
    if not isinstance(content, str) or encoding not in {"base64", "utf-8"}:
        raise PublishError("GitHub's answer to a file's content does not have the form that its API describes")
    if encoding == "utf-8":
        return content.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(content)
    except (binascii.Error, ValueError) as error:
        raise PublishError("GitHub's answer to a file's content is not base64") from error
