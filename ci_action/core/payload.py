"""Read GitHub's JSON: each value is of the form that GitHub documents, or the error says what was found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ci_action.core.event import PullRequest
from ci_action.errors import EventError

SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}")
# What git itself refuses in a name (git-check-ref-format), and a first "-", which would read as an option.
REF = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[^\x00-\x20\x7f~^:?*\[\\]{1,255}")


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def mapping(value: object, where: str) -> Mapping[str, Any]:
    """Give an object. Raises EventError."""
    if not isinstance(value, dict):
        raise EventError(f"{where}: found {show(value)}; accepted: an object, as GitHub's event file has it")
    return value


def optional(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Give an object that may be absent."""
    value = payload.get(key)
    return {} if value is None else mapping(value, key)


def text_at(value: object, *keys: str) -> str:
    """Return a text inside nested objects, or nothing where any of them is missing or of another form."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def moment(value: object) -> str:
    """Return a time as GitHub writes it, UTC to the second, which sorts as text; nothing for any other value."""
    return value if isinstance(value, str) and _MOMENT.fullmatch(value) else ""


def match(pattern: re.Pattern[str], value: object, where: str, accepted: str) -> str:
    """Give a text of one form. Raises EventError."""
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise EventError(f"{where}: found {show(value)}; accepted: {accepted}")
    return value


def sha(value: object, where: str) -> str:
    """Give a full commit id. Raises EventError."""
    return match(SHA, value, where, "a full commit id of 40 or 64 lower-case hex digits")


def positive(value: object, where: str) -> int:
    """Give a number that GitHub counts from 1. Raises EventError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**53:
        raise EventError(f"{where}: found {show(value)}; accepted: a positive whole number")
    return value


def read_pull_request(pull: Mapping[str, Any], where: str, *, repository: str) -> PullRequest:
    """Give a pull request as events and the API show it alike. Raises EventError."""
    merge = pull.get("merge_commit_sha")
    head, base = (mapping(pull.get(side), f"{where}.{side}") for side in ("head", "base"))
    return PullRequest(
        number=positive(pull.get("number"), f"{where}.number"),
        head_sha=sha(head.get("sha"), f"{where}.head.sha"),
        head_ref=match(REF, head.get("ref"), f"{where}.head.ref", "a branch"),
        head_repository=full_name(head, f"{where}.head.repo"),
        base_sha=sha(base.get("sha"), f"{where}.base.sha"),
        base_ref=match(REF, base.get("ref"), f"{where}.base.ref", "a branch"),
        base_repository=full_name(base, f"{where}.base.repo") or repository,
        merge_sha=merge if isinstance(merge, str) and SHA.fullmatch(merge) else None,
    )


def full_name(side: Mapping[str, Any], where: str) -> str | None:
    """Give ``owner/name``, or None where the repository is gone: a deleted fork is still a fork [S1]."""
    if side.get("repo") is None:
        return None
    return match(REPOSITORY, mapping(side["repo"], where).get("full_name"), f"{where}.full_name", "owner/name")


def show(value: object) -> str:
    """Show what was found, short enough for a sentence."""
    text = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
