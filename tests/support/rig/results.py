"""The artifact service that a runner talks to: Twirp calls and the signed blob URLs that they hand out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from support.rig.exchange import Request, Response, error
from support.rig.openapi import minimal
from support.rig.state import NOW, GitHubState

NOT_FOUND = error(404, "Not Found")
FORBIDDEN_IN_NAMES = set('":<>|*?\\/\r\n')


def create_artifact(state: GitHubState, request: Request) -> Response:
    """Names are immutable within a run: a second one of the same name is a conflict, as since upload-artifact v4."""
    name, run = request.json["name"], int(request.json["workflow_run_backend_id"])
    if not name or FORBIDDEN_IN_NAMES & set(name):
        return _twirp_error(400, "invalid_argument", f"artifact name {name!r} is not valid")
    if any(artifact["name"] == name for artifact in _of_run(state, run)):
        return _twirp_error(409, "already_exists", "an artifact with this name already exists on the workflow run")
    return Response(200, {"ok": True, "signed_upload_url": f"{request.own_url}/blob/{run}/{name}?sig=x"})


def finalize_artifact(state: GitHubState, request: Request) -> Response:
    """Make an uploaded blob visible to the REST API."""
    name, run = request.json["name"], int(request.json["workflow_run_backend_id"])
    blob = state.blobs.get(f"{run}/{name}")
    if blob is None:
        return _twirp_error(404, "not_found", "nothing was uploaded")
    identifier = state.next_id()
    state.blobs[str(identifier)] = blob
    state.artifact_runs[identifier] = run
    state.artifacts[identifier] = minimal(
        "artifact",
        id=identifier,
        name=name,
        size_in_bytes=len(blob),
        created_at=NOW,
        updated_at=NOW,
        digest="sha256:" + hashlib.sha256(blob).hexdigest(),
        archive_download_url=f"{request.public_url}/repos/{state.repository}/actions/artifacts/{identifier}/zip",
    )
    return Response(200, {"ok": True, "artifact_id": str(identifier)})


def list_artifacts(state: GitHubState, request: Request) -> Response:
    """Name a run's artifacts."""
    listed = [
        {"database_id": str(artifact["id"]), "name": artifact["name"], "size": str(artifact["size_in_bytes"])}
        for artifact in _of_run(state, int(request.json["workflow_run_backend_id"]))
    ]
    return Response(200, {"artifacts": listed})


def signed_artifact_url(state: GitHubState, request: Request) -> Response:
    """Say where an artifact's archive can be read."""
    key = f"{int(request.json['workflow_run_backend_id'])}/{request.json['name']}"
    if key not in state.blobs:
        return _twirp_error(404, "not_found", "no such artifact")
    return Response(200, {"signed_url": f"{request.own_url}/blob/{key}?sig=x"})


def delete_artifact(state: GitHubState, request: Request) -> Response:
    """Remove a run's artifact, as upload-artifact does before it overwrites one."""
    run, name = int(request.json["workflow_run_backend_id"]), request.json["name"]
    found = next((artifact["id"] for artifact in _of_run(state, run) if artifact["name"] == name), None)
    if found is None:
        return _twirp_error(404, "not_found", "no such artifact")
    del state.artifacts[found], state.artifact_runs[found]
    return Response(200, {"ok": True, "artifact_id": str(found)})


METHODS: dict[str, Callable[[GitHubState, Request], Response]] = {
    "CreateArtifact": create_artifact,
    "FinalizeArtifact": finalize_artifact,
    "DeleteArtifact": delete_artifact,
    "ListArtifacts": list_artifacts,
    "GetSignedArtifactURL": signed_artifact_url,
}


def answer(state: GitHubState, request: Request) -> Response | None:
    """Answer a Twirp call or a blob request; None when the path is neither."""
    if match := re.fullmatch(r"/twirp/github\.actions\.results\.api\.v1\.ArtifactService/(\w+)", request.path):
        method = METHODS.get(match[1])
        return method(state, request) if method else _twirp_error(404, "bad_route", match[1])
    if match := re.fullmatch(r"/blob/(.+)", request.path):
        return _blob(state, request, match[1])
    return None


def _blob(state: GitHubState, request: Request, key: str) -> Response:
    if "authorization" in request.headers:
        return error(400, "a signed URL must not be sent a token")
    if request.method == "PUT":
        state.blobs[key] = request.body
        return Response(201, b"", {"ETag": '"0"'})
    blob = state.blobs.get(key)
    return Response(200, blob, {"Content-Type": "application/zip"}) if blob is not None else NOT_FOUND


def _of_run(state: GitHubState, run: int) -> list[dict[str, Any]]:
    return [artifact for identifier, artifact in state.artifacts.items() if state.artifact_runs[identifier] == run]


def _twirp_error(status: int, code: str, message: str) -> Response:
    return Response(status, {"code": code, "msg": message})
