"""The RemoteRepository port: pull requests, ancestry and files over REST, for a job without a checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ci_action.core.payload import SHA, mapping, read_pull_request, sha
from ci_action.edges.github.trees import PUSH, TreesRest
from ci_action.errors import EventError, GitError, PublishError
from ci_action.ports import Comparison, GoneError, RefusedError

if TYPE_CHECKING:
    from ci_action.core.config.committed import CommittedFile
    from ci_action.core.event import PullRequest
    from ci_action.core.plan import Commits
    from ci_action.edges.github.api import Api

STATUSES = frozenset({"ahead", "behind", "identical", "diverged"})


class RemoteRest:
    """One repository. Needs ``contents: read`` and ``pull-requests: read``."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._repository = repository
        self._trees = TreesRest(api, repository)

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
        """Hold two commits or branches against each other. Raises GoneError naming the one that is not there."""
        sides = f"{quote(base, safe='')}...{quote(head, safe='')}"
        try:
            body = self._object(f"/compare/{sides}?per_page=1")
        except RefusedError as refusal:
            if refusal.status != 404:
                raise
            raise self._missing(base, head) from refusal
        try:
            merge_base = sha(mapping(body.get("merge_base_commit"), "merge_base_commit").get("sha"), "merge base")
            base_sha = sha(mapping(body.get("base_commit"), "base_commit").get("sha"), "base commit")
        except EventError as error:
            raise PublishError(f"GitHub's comparison of two commits lacks a part: {error}") from error
        if body.get("status") not in STATUSES:
            raise PublishError("GitHub's comparison of two commits has no status that its API describes")
        return Comparison(status=str(body["status"]), merge_base=merge_base, base_sha=base_sha)

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

    def read(self, sha: str, path: str) -> CommittedFile:
        """Return what a commit has at a path, as git would."""
        return self._trees.read(_full(sha), path)

    def changed_paths(self, commits: Commits, merge_sha: str | None) -> list[str] | None:
        """Return the paths that differ between the measured commits; None where GitHub cannot list them.

        A head that was measured itself, or merged by GitHub (``merge_sha``), is compared with base. Anybody can make
        another commit with the same two parents, so of such a one only this is certain: a merge changes no path that
        head left as it was where both parted, and none that head and base have alike.
        """
        base, head, measured = _full(str(commits.base_sha)), _full(commits.head_sha), _full(commits.measured_sha)
        if measured in {head, merge_sha}:
            found = self._trees.changed(base, measured)
            return None if found is None else sorted(found)
        parted = self.compare(base, head).merge_base
        own, apart = self._trees.changed(parted, head), self._trees.changed(base, head)
        return None if own is None or apart is None else sorted(own & apart)

    def _missing(self, *revisions: str) -> GoneError:
        """Find out which of two revisions a refused comparison lacked."""
        for revision in revisions:
            is_commit = SHA.fullmatch(revision) is not None
            named = f"commit {revision[:12]}" if is_commit else f"the base branch {revision!r}"
            todo = PUSH if is_commit else "restore it, or give the pull request another base and push to it"
            try:
                self._object(f"/commits/{quote(revision, safe='')}?per_page=1")
            except RefusedError as refusal:
                if refusal.status in {404, 422}:
                    return GoneError(f"{named} is not in {self._repository} any more: {todo}")
                raise
        return GoneError(
            f"{' and '.join(one[:12] for one in revisions)} have no common history: rebase the pull request"
        )

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
