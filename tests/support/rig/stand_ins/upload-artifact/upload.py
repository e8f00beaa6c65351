"""Upload files as one artifact: Twirp calls around one PUT, as the real action makes them. Standard library only."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

SERVICE = "twirp/github.actions.results.api.v1.ArtifactService/"


def send(url: str, body: bytes, *, method: str = "POST", content_type: str = "application/json") -> bytes:
    request = urllib.request.Request(url, body, {"Content-Type": content_type}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        content: bytes = answer.read()
        return content


def call(operation: str, **fields: str) -> Any:
    body = json.dumps({"workflow_run_backend_id": os.environ["GITHUB_RUN_ID"], **fields}).encode()
    return json.loads(send(os.environ["ACTIONS_RESULTS_URL"] + SERVICE + operation, body))


def files_of(patterns: str) -> dict[str, Path]:
    """Name each file inside the archive: relative to the folder that was asked for."""
    found: dict[str, Path] = {}
    for path in (Path(line.strip()) for line in patterns.splitlines() if line.strip()):
        root = path if path.is_dir() else path.parent
        inside = path.rglob("*") if path.is_dir() else [path]
        found |= {str(file.relative_to(root)): file for file in inside if file.is_file() and file.name[0] != "."}
    return found


def main() -> int:
    files = files_of(os.environ["FILES"])
    if not files:
        is_error = os.environ["IF_NO_FILES_FOUND"] == "error"
        print(f"::{'error' if is_error else 'warning'}::No files were found with the provided path")
        return int(is_error)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, file in sorted(files.items()):
            packed.write(file, name)
    name = os.environ["NAME"]
    if os.environ["OVERWRITE"] == "true":
        with contextlib.suppress(urllib.error.HTTPError):
            call("DeleteArtifact", name=name)
    target = call("CreateArtifact", name=name)["signed_upload_url"]
    send(target, archive.getvalue(), method="PUT", content_type="application/zip")
    identifier = call("FinalizeArtifact", name=name)["artifact_id"]
    run = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}".format_map(os.environ)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
        output.write(f"artifact-id={identifier}\nartifact-url={run}/artifacts/{identifier}\n")
        output.write(f"artifact-digest={hashlib.sha256(archive.getvalue()).hexdigest()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
