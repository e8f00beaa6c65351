"""What the event says of itself: which action on the pull request, by whom, when, at which head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ci_action.core.payload import moment, text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

NEVER = "9999-12-31T23:59:59Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """One action on a pull request. ``at`` sorts as text; an unknown time is in the future: nothing is after it."""

    action: str
    label: str
    actor: str
    head_sha: str
    at: str
    is_first_run: bool = False
    """Whether ``at`` is when this head was first run for its branch, and not the time of the event itself."""


def parse_trigger(payload: Mapping[str, Any]) -> Trigger:
    """Read an event's payload, which has been read as an event before. Whatever is missing counts as nothing."""
    return Trigger(
        action=text_at(payload, "action"),
        label=text_at(payload, "label", "name"),
        actor=text_at(payload, "sender", "login"),
        head_sha=text_at(payload, "pull_request", "head", "sha"),
        at=moment(text_at(payload, "pull_request", "updated_at")) or NEVER,
    )
