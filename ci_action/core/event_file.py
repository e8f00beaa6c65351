"""Read GitHub's event payload into an ``Event``, and refuse the events under which measuring would be dangerous."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ci_action.core.event import Event, PullRequest
from ci_action.errors import EventError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}")
_ZEROS = re.compile(r"0+")
# What git itself refuses in a name (git-check-ref-format), and a first "-", which would read as an option.
_REF = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[^\x00-\x20\x7f~^:?*\[\\]{1,255}")

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
    payload = _mapping(payload, "the event file")
    _match(_REPOSITORY, repository, "GITHUB_REPOSITORY", "owner/name")
    branch = _optional(payload, "repository").get("default_branch") or default_branch or "main"
    facts = {
        "repository": repository,
        "sha": _sha(sha, "GITHUB_SHA"),
        "default_branch": _match(_REF, branch, "repository.default_branch", "a branch"),
    }
    return Event(name=name, **{**facts, **_READERS[name](payload, repository)})


def _pull_request(payload: Mapping[str, Any], repository: str) -> dict[str, Any]:
    pull = _mapping(payload.get("pull_request"), "pull_request")
    head, base = (_mapping(pull.get(side), f"pull_request.{side}") for side in ("head", "base"))
    number = pull.get("number", payload.get("number"))
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 2**53:
        raise EventError(f"pull_request.number: found {_show(number)}; accepted: a positive whole number")
    request = PullRequest(
        number=number,
        head_sha=_sha(head.get("sha"), "pull_request.head.sha"),
        head_ref=_match(_REF, head.get("ref"), "pull_request.head.ref", "a branch"),
        head_repository=_full_name(head, "pull_request.head.repo"),
        base_sha=_sha(base.get("sha"), "pull_request.base.sha"),
        base_ref=_match(_REF, base.get("ref"), "pull_request.base.ref", "a branch"),
        base_repository=_full_name(base, "pull_request.base.repo") or repository,
    )
    return {"pull_request": request}


def _push(payload: Mapping[str, Any], _repository: str) -> dict[str, Any]:
    if payload.get("deleted") is True or _is_zeros(payload.get("after")):
        return {"skip_reason": "the push deleted a branch or tag, so there is no commit to measure"}
    before = payload.get("before")
    if before is None or _is_zeros(before):  # a new branch: base is the merge base with the default branch
        return {}
    return {"base_hint": _sha(before, "before")}


def _merge_group(payload: Mapping[str, Any], _repository: str) -> dict[str, Any]:
    group = _mapping(payload.get("merge_group"), "merge_group")
    return {
        "base_hint": _sha(group.get("base_sha"), "merge_group.base_sha"),
        "sha": _sha(group.get("head_sha"), "merge_group.head_sha"),
    }


def _dispatch(payload: Mapping[str, Any], _repository: str) -> dict[str, Any]:
    base = _optional(payload, "inputs").get("base")
    return {"base_hint": _match(_REF, base, "inputs.base", "a branch, tag or full commit id")} if base else {}


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


def _show(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise EventError(f"{where}: found {_show(value)}; accepted: an object, as GitHub's event file has it")
    return value


def _optional(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = payload.get(key)
    return {} if value is None else _mapping(value, key)


def _match(pattern: re.Pattern[str], value: object, where: str, accepted: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise EventError(f"{where}: found {_show(value)}; accepted: {accepted}")
    return value


def _sha(value: object, where: str) -> str:
    return _match(_SHA, value, where, "a full commit id of 40 or 64 lower-case hex digits")


def _is_zeros(value: object) -> bool:
    return isinstance(value, str) and bool(_ZEROS.fullmatch(value))


def _full_name(side: Mapping[str, Any], where: str) -> str | None:
    """Give ``owner/name``, or None where the repository is gone: a deleted fork is still a fork [S1]."""
    if side.get("repo") is None:
        return None
    return _match(_REPOSITORY, _mapping(side["repo"], where).get("full_name"), f"{where}.full_name", "owner/name")
