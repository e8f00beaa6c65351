"""What the event says of itself: which action on the pull request, by whom, when, at which head."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ci_action.edges.environ import Runner

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
NEVER = "9999-12-31T23:59:59Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """One action on a pull request. ``at`` sorts as text; an unknown time is in the future: nothing is after it."""

    action: str
    label: str
    actor: str
    head_sha: str
    at: str


def read_trigger(runner: Runner) -> Trigger:
    """Read the event file. It has been read as an event before; whatever is missing here counts as nothing."""
    payload = json.loads(Path(runner.event_path).read_text(encoding="utf-8"))
    pull = _mapping(payload, "pull_request")
    at = pull.get("updated_at")
    return Trigger(
        action=_text(payload, "action"),
        label=_text(_mapping(payload, "label"), "name"),
        actor=_text(_mapping(payload, "sender"), "login"),
        head_sha=_text(_mapping(pull, "head"), "sha"),
        at=at if isinstance(at, str) and MOMENT.fullmatch(at) else NEVER,
    )


def _mapping(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
