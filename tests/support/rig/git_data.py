"""Answers of the fake GitHub that come from a real bare repository: comparisons and file contents."""

from __future__ import annotations

import base64
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from support.rig.exchange import Request, Response, error, page
from support.rig.openapi import minimal
from support.rig.state import GitHubState

NOT_FOUND = error(404, "Not Found")


def git(repository: Path, *arguments: str) -> str:
    """Run git in a repository and give its output, without the last newline."""
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip("\n")


def compare(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """Compare two commits the three-dot way: status tells whether base is an ancestor of head."""
    if state.remote is None:
        return NOT_FOUND
    base, head = unquote(path["base"]), unquote(path["head"])
    try:
        merge_base = git(state.remote, "merge-base", base, head)
        ahead = int(git(state.remote, "rev-list", "--count", f"{base}..{head}"))
        behind = int(git(state.remote, "rev-list", "--count", f"{head}..{base}"))
        base_sha = git(state.remote, "rev-parse", base)
    except subprocess.CalledProcessError:
        return NOT_FOUND
    status = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind", (False, False): "identical"}
    body = minimal("commit-comparison", ahead_by=ahead, behind_by=behind, total_commits=ahead)
    body.update(
        status=status[ahead > 0, behind > 0],
        base_commit=_commit(base_sha),
        merge_base_commit=_commit(merge_base),
    )
    return Response(200, body)


def _commit(sha: str) -> dict[str, Any]:
    return minimal("commit", sha=sha)


def commit(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """Give one commit with its parents, first parent first."""
    if state.remote is None:
        return NOT_FOUND
    try:
        sha, *parents = git(state.remote, "rev-list", "--parents", "-n", "1", path["sha"]).split()
    except subprocess.CalledProcessError:
        return NOT_FOUND
    urls = "https://github.com/x"
    return Response(200, _commit(sha) | {"parents": [{"sha": one, "url": urls, "html_url": urls} for one in parents]})


def tree(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """List a tree, or the tree of a commit; with ``recursive`` everything below it."""
    if state.remote is None:
        return NOT_FOUND
    recursive = ["-r", "-t"] if "recursive" in request.query else []
    try:
        listed = git(state.remote, "ls-tree", "-z", *recursive, path["sha"])
    except subprocess.CalledProcessError:
        return NOT_FOUND
    items = []
    for line in filter(None, listed.split("\0")):
        entry, _, name = line.partition("\t")
        mode, kind, sha = entry.split()
        items.append({"path": name, "mode": mode, "type": kind, "sha": sha})
    is_cut = bool(recursive) and len(items) > state.tree_limit
    body = minimal("git-tree", sha=path["sha"], tree=items[: state.tree_limit] if recursive else items)
    return Response(200, body | {"truncated": is_cut})


def blob(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """Give a blob in base64."""
    if state.remote is None:
        return NOT_FOUND
    command = ["git", "-C", str(state.remote), "cat-file", "blob", path["sha"]]
    done = subprocess.run(command, check=False, capture_output=True)
    if done.returncode:
        return NOT_FOUND
    content = base64.encodebytes(done.stdout).decode()
    return Response(200, minimal("blob", sha=path["sha"], size=len(done.stdout), content=content, encoding="base64"))


def pull_request_files(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """Give what a pull request touches: the difference from where it left its base."""
    held = state.pull_requests.get(int(path["number"]))
    if held is None or state.remote is None:
        return NOT_FOUND
    names = git(state.remote, "diff", "--name-only", "--no-renames", f"{held.base_ref}...{held.head_sha}").splitlines()
    return page(request, [minimal("diff-entry", filename=name, status="modified") for name in names])


def contents(state: GitHubState, request: Request, path: re.Match[str]) -> Response:
    """Give one file at a ref: raw when asked for, else base64 in JSON."""
    if state.remote is None:
        return NOT_FOUND
    name = unquote(path["file"])
    try:
        text = git(state.remote, "show", f"{request.query.get('ref', 'main')}:{name}") + "\n"
    except subprocess.CalledProcessError:
        return NOT_FOUND
    if "raw" in request.headers.get("accept", ""):
        return Response(200, text.encode(), {"Content-Type": "application/vnd.github.raw; charset=utf-8"})
    encoded = base64.encodebytes(text.encode()).decode()
    body = minimal("content-file", path=name, name=Path(name).name, content=encoded, encoding="base64", type="file")
    return Response(200, body | {"size": len(text)})
