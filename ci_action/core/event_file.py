"""Read GitHub's event payload into an ``Event``, and refuse the events under which measuring would be dangerous."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ci_action.core.event import Event
from ci_action.core.payload import REF, REPOSITORY, mapping, match, optional, read_pull_request
from ci_action.core.payload import sha as commit
from ci_action.errors import EventError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ZEROS = re.compile(r"0+")

_SPLIT = (
    "Measure under pull_request with `mode: measure`, and comment from a second workflow under workflow_run "
    "with `mode: publish`: the README's recipe for forks has both."
)
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "pull_request_target": f"it holds a token that can write while it would run the pull request's code. {_SPLIT}",
        "workflow_run": f"it holds a token that can write; there only `mode: publish` may run. {_SPLIT}",
        "issue_comment": f"it holds a token that can write, on the default branch, and names no commit. {_SPLIT}",
    }
)


def parse_event(
    name: str, payload: Mapping[str, Any], *, repository: str, sha: str, default_branch: str | None = None
) -> Event:
    """Read one event.

    Args:
        name: GITHUB_EVENT_NAME.
        payload: the parsed file of GITHUB_EVENT_PATH.
        repository: GITHUB_REPOSITORY, ``owner/name``.
        sha: GITHUB_SHA, what the job checked out.
        default_branch: used where the payload does not name it.

    Raises:
        EventError: for an event that may not measure, and for a payload that does not say enough.
    """
    if name not in _READERS:
        why = _REFUSED.get(name, "only events with a base and a head can be compared.")
        raise EventError(f"the event {name[:60]!r} may not measure: {why} Measuring events: {', '.join(_READERS)}.")
    payload = mapping(payload, "the event file")
    match(REPOSITORY, repository, "GITHUB_REPOSITORY", "owner/name")
    branch = optional(payload, "repository").get("default_branch") or default_branch or "main"
    facts = {
        "repository": repository,
        "sha": commit(sha, "GITHUB_SHA"),
        "default_branch": match(REF, branch, "repository.default_branch", "a branch"),
    }
    return Event(name=name, **{**facts, **_READERS[name](payload, repository)})


def _pull_request(payload: Mapping[str, Any], repository: str) -> dict[str, Any]:
    pull = mapping(payload.get("pull_request"), "pull_request")
    number = pull.get("number", payload.get("number"))
    return {"pull_request": read_pull_request({**pull, "number": number}, "pull_request", repository=repository)}


def _push(payload: Mapping[str, Any], _repository: str) -> dict[str, Any]:
    if payload.get("deleted") is True or _is_zeros(payload.get("after")):
        return {"skip_reason": "the push deleted a branch or tag, so there is no commit to measure"}
    before = payload.get("before")
    if before is None or _is_zeros(before):  # a new branch: base is the merge base with the default branch
        return {}
    return {"base_hint": commit(before, "before")}


def _merge_group(payload: Mapping[str, Any], _repository: str) -> dict[str, Any]:
    group = mapping(payload.get("merge_group"), "merge_group")
    return {
        "base_hint": commit(group.get("base_sha"), "merge_group.base_sha"),
        "sha": commit(group.get("head_sha"), "merge_group.head_sha"),
    }


def _dispatch(payload: Mapping[str, Any], _repository: str) -> dict[str, Any]:
    base = optional(payload, "inputs").get("base")
    return {"base_hint": match(REF, base, "inputs.base", "a branch, tag or full commit id")} if base else {}


_READERS: Mapping[str, Callable[[Mapping[str, Any], str], dict[str, Any]]] = MappingProxyType(
    {
        "pull_request": _pull_request,
        "push": _push,
        "merge_group": _merge_group,
        "schedule": lambda _payload, _repository: {},
        "workflow_dispatch": _dispatch,
    }
)
MEASURING_EVENTS = tuple(_READERS)


def _is_zeros(value: object) -> bool:
    return isinstance(value, str) and bool(_ZEROS.fullmatch(value))
