"""The RunStore port: artifacts of other runs, and when a head was first run. Needs ``actions: read``."""

from __future__ import annotations

import hashlib
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests

from ci_action.core.payload import moment
from ci_action.core.trigger import NEVER
from ci_action.edges.github.archive import ARCHIVE_BYTES
from ci_action.errors import EvidenceError, PublishError
from ci_action.ports import Artifact, GoneError, RefusedError

if TYPE_CHECKING:
    from ci_action.core.handover.producing_run import ProducingRun
    from ci_action.edges.github.api import Api

TIMEOUT_SECONDS = (10.0, 30.0)
DOWNLOAD_SECONDS = 120.0
TRIES = 3
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class RunStoreRest:
    """Runs of one repository."""

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._repository = repository

    def artifacts(self, run_id: int) -> list[Artifact]:
        """All artifacts of a run, over all pages."""
        path = f"/repos/{self._repository}/actions/runs/{run_id}/artifacts?per_page=100"
        try:
            return [_artifact(item) for item in self._api.pages(path, under="artifacts")]
        except RefusedError as refusal:
            if refusal.status != 404:
                raise
            raise GoneError(f"the measuring run {run_id} was deleted: push to the pull request again") from refusal

    def archive(self, artifact: Artifact) -> bytes:
        """Download an artifact's zip. GitHub answers with a signed address elsewhere: no token goes there [S24].

        Raises EvidenceError for an archive that is too large or not the one that GitHub has on record, PublishError.
        """
        if artifact.size_bytes > ARCHIVE_BYTES:
            raise EvidenceError(f"the artifact is larger than {ARCHIVE_BYTES // 10**6} MB")
        place = f"/repos/{self._repository}/actions/artifacts/{artifact.id}/zip"
        for _ in range(TRIES):
            data = _download(self._place(place, artifact))  # asked anew: the address is good for a minute
            if data is not None:
                break
        else:
            raise PublishError(f"the artifact {artifact.id} could not be downloaded in {TRIES} tries")
        if artifact.sha256 and hashlib.sha256(data).hexdigest() != artifact.sha256:
            raise EvidenceError("the artifact is not the one that was uploaded: its digest differs")
        return data

    def _place(self, path: str, artifact: Artifact) -> str:
        try:
            return self._api.redirection(path)
        except RefusedError as refusal:
            if refusal.status not in {404, 410}:
                raise
            raise EvidenceError(f"the artifact {artifact.name!r} has expired or was deleted") from refusal

    def first_run_at(self, run: ProducingRun) -> str:
        """Return when the workflow first ran on this head for this branch: the head was pushed before.

        A run of another branch or repository says nothing: the same commit may have been run there long before it
        became the head of this pull request. In the far future if not known.
        """
        path = f"/repos/{self._repository}/actions/runs?event=pull_request&head_sha={run.head_sha}&per_page=100"
        found = [item for item in self._api.pages(path, under="workflow_runs") if isinstance(item, dict)]
        times = [moment(item.get("created_at")) for item in found if _is_of(item, run)]
        return min(filter(None, times), default=NEVER)


def _is_of(item: dict[str, Any], run: ProducingRun) -> bool:
    home = item.get("head_repository")
    full_name = home.get("full_name") if isinstance(home, dict) else None
    found = (item.get("head_sha"), item.get("head_branch"), full_name, _path(item))
    return found == (run.head_sha, run.head_branch, run.head_repository, run.path)


def _path(item: dict[str, Any]) -> str:
    return str(item.get("path")).partition("@")[0]


def _artifact(item: Any) -> Artifact:
    fields = item if isinstance(item, dict) else {}
    identifier, name, size, digest = (fields.get(key) for key in ("id", "name", "size_in_bytes", "digest"))
    if not isinstance(identifier, int) or not isinstance(name, str) or not isinstance(size, int):
        raise PublishError("GitHub's list of artifacts does not have the form that its API describes")
    known = isinstance(digest, str) and DIGEST.fullmatch(digest)
    return Artifact(
        id=identifier,
        name=name,
        size_bytes=size,
        is_expired=fields.get("expired") is not False,
        sha256=str(digest).removeprefix("sha256:") if known else "",
        created_at=moment(fields.get("created_at")),
    )


def _no_credentials(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Requests would otherwise look for a password in .netrc."""
    return request


def _download(url: str) -> bytes | None:
    """The body of one address, within a size and a time; None where no whole answer came."""
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"}
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise PublishError("GitHub says that the artifact lies at an address that is not https: not followed")
    pieces, size, began = [], 0, time.monotonic()
    try:
        with requests.get(
            url, auth=_no_credentials, timeout=TIMEOUT_SECONDS, allow_redirects=False, stream=True
        ) as response:
            if response.status_code != 200:
                return None
            for piece in response.iter_content(1 << 16):
                pieces.append(piece)
                size += len(piece)
                if size > ARCHIVE_BYTES:
                    raise EvidenceError(f"the artifact is larger than {ARCHIVE_BYTES // 10**6} MB")
                if time.monotonic() - began > DOWNLOAD_SECONDS:
                    return None
    except requests.RequestException:
        return None
    return b"".join(pieces)
