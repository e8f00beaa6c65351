"""Unpack artifacts of a run: one by name into a folder, or several by pattern. Standard library only."""

from __future__ import annotations

import fnmatch
import io
import json
import os
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

SERVICE = "twirp/github.actions.results.api.v1.ArtifactService/"


def call(operation: str, **fields: str) -> Any:
    body = json.dumps({"workflow_run_backend_id": os.environ["RUN_ID"], **fields}).encode()
    url = os.environ["ACTIONS_RESULTS_URL"] + SERVICE + operation
    with urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})) as answer:
        return json.loads(answer.read())


def unpack(name: str, target: Path) -> None:
    with urllib.request.urlopen(call("GetSignedArtifactURL", name=name)["signed_url"], timeout=30) as answer:
        zipfile.ZipFile(io.BytesIO(answer.read())).extractall(target)


def main() -> int:
    target = Path(os.environ["DESTINATION"]).resolve()
    wanted = os.environ["NAME"]
    listed = [artifact["name"] for artifact in call("ListArtifacts")["artifacts"]]
    names = [name for name in listed if name == wanted or (not wanted and fnmatch.fnmatch(name, os.environ["PATTERN"]))]
    if wanted and not names:
        print(f"::error::Unable to download artifact(s): Artifact not found for name: {wanted}")
        return 1
    for name in names:
        unpack(name, target if wanted or os.environ["MERGE"] == "true" else target / name)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
        output.write(f"download-path={target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
