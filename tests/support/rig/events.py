"""Event payloads the way GitHub sends them, cut to what an action may read."""

from __future__ import annotations

from typing import Any

from support.rig.repository import Consumer, git

REPOSITORY_ID = 4711


def repository(full_name: str = "acme/widget", identifier: int = REPOSITORY_ID) -> dict[str, Any]:
    """Give a repository as events show it."""
    owner, name = full_name.split("/")
    return {
        "id": identifier,
        "full_name": full_name,
        "name": name,
        "owner": {"login": owner},
        "default_branch": "main",
        "fork": identifier != REPOSITORY_ID,
    }


def pull_request(consumer: Consumer, *, head_repository: str = "acme/widget") -> dict[str, Any]:
    """Give the payload of ``pull_request: synchronize`` for the consumer's pull request."""
    fork_id = REPOSITORY_ID if head_repository == "acme/widget" else REPOSITORY_ID + 1
    return {
        "action": "synchronize",
        "number": consumer.number,
        "pull_request": {
            "number": consumer.number,
            "state": "open",
            "draft": False,
            "labels": [],
            "user": {"login": "octocat", "id": 583231},
            "head": {"ref": "feature", "sha": consumer.head_sha, "repo": repository(head_repository, fork_id)},
            "base": {"ref": "main", "sha": consumer.base_sha, "repo": repository()},
        },
        "repository": repository(),
        "sender": {"login": "octocat", "id": 583231},
    }


def workflow_run(
    consumer: Consumer, *, run_id: int, head_repository: str = "acme/widget", conclusion: str = "success"
) -> dict[str, Any]:
    """Give the payload of ``workflow_run: completed`` for a run on the consumer's pull request.

    Its own list of pull requests is empty, as GitHub leaves it for forks.
    """
    fork_id = REPOSITORY_ID if head_repository == "acme/widget" else REPOSITORY_ID + 1
    return {
        "action": "completed",
        "workflow_run": {
            "id": run_id,
            "name": "torchscan",
            "path": ".github/workflows/torchscan.yml",
            "event": "pull_request",
            "conclusion": conclusion,
            "run_attempt": 1,
            "head_sha": consumer.head_sha,
            "head_branch": "feature",
            "head_repository": repository(head_repository, fork_id),
            "repository": repository(),
            "pull_requests": [],
        },
        "repository": repository(),
    }


def push(consumer: Consumer) -> dict[str, Any]:
    """Give the payload of a push to main that added its last commit."""
    return {
        "ref": "refs/heads/main",
        "before": git(consumer.clone, "rev-parse", "main^"),
        "after": consumer.base_sha,
        "created": False,
        "deleted": False,
        "forced": False,
        "repository": repository(),
    }


def merge_group(consumer: Consumer) -> dict[str, Any]:
    """Give the payload of a merge queue's group: main with the pull request on top."""
    return {
        "action": "checks_requested",
        "merge_group": {
            "head_sha": git(consumer.clone, "rev-parse", "HEAD"),
            "head_ref": f"refs/heads/gh-readonly-queue/main/pr-{consumer.number}-{consumer.base_sha}",
            "base_sha": consumer.base_sha,
            "base_ref": "refs/heads/main",
        },
        "repository": repository(),
    }
