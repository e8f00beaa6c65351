"""The run whose evidence is to be published, as GitHub's own event names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ci_action.core.payload import REF, REPOSITORY, mapping, match, positive, sha
from ci_action.errors import EventError

_PATH = re.compile(r"\.github/workflows/[A-Za-z0-9_. -]{1,200}\.ya?ml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducingRun:
    """A finished run. ``head_repository`` is None where the fork is gone."""

    id: int
    attempt: int
    event: str
    head_sha: str
    head_branch: str
    head_repository: str | None
    repository: str
    path: str


def parse_producing_run(name: str, payload: Mapping[str, Any]) -> ProducingRun | str:
    """Read the event of a publishing run, or say why there is nothing to publish.

    Raises:
        EventError: for any other event than workflow_run, and for a payload that does not say enough.
    """
    if name != "workflow_run":
        raise EventError(
            f"the event {name[:60]!r} may not publish: `mode: publish` comments for another run, so it runs under "
            "workflow_run alone. Under other events leave mode away, or use `mode: measure`."
        )
    run = mapping(payload.get("workflow_run"), "workflow_run")
    if payload.get("action") != "completed":
        return "the measuring run has not ended yet"
    if run.get("event") != "pull_request":
        return "the measuring run was not started by pull_request, so there is no pull request to comment on"
    if run.get("head_branch") is None:
        return "the branch of the measuring run is gone"
    head = run.get("head_repository")
    return ProducingRun(
        id=positive(run.get("id"), "workflow_run.id"),
        attempt=positive(run.get("run_attempt"), "workflow_run.run_attempt"),
        event="pull_request",
        head_sha=sha(run.get("head_sha"), "workflow_run.head_sha"),
        head_branch=match(REF, run.get("head_branch"), "workflow_run.head_branch", "a branch"),
        head_repository=None if head is None else _full_name(head, "workflow_run.head_repository"),
        repository=_full_name(run.get("repository"), "workflow_run.repository"),
        path=_path(run.get("path")),
    )


def _full_name(value: object, where: str) -> str:
    return match(REPOSITORY, mapping(value, where).get("full_name"), f"{where}.full_name", "owner/name")


def _path(value: object) -> str:
    plain = value.partition("@")[0] if isinstance(value, str) else value
    return match(_PATH, plain, "workflow_run.path", "the path of a workflow file")
