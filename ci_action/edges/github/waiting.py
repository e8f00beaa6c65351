"""How long to wait before a request is sent again, by what the answer itself says."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_SECONDS = 1.0
SECONDARY_SECONDS = 60.0
SERVER_FAULTS = frozenset({0, 500, 502, 503, 504})
"""0 stands for an answer that never came whole."""
PACED = frozenset({403, 429})


def is_rate_limit(status: int, headers: Mapping[str, str], body: str) -> bool:
    """Whether a refusal is about pace. A plain 403 is about permission, and asking again changes nothing."""
    if status == 429:
        return True
    paced = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0" or "secondary rate" in body.lower()
    return status == 403 and paced


def seconds_to_wait(status: int, headers: Mapping[str, str], attempt: int) -> float:
    """Seconds before attempt number ``attempt`` + 1; ``headers`` have lower-case names.

    The server's own clock is used where it tells the time, so that a wrong clock here does not matter.
    """
    asked = headers.get("retry-after", "").strip()
    if asked.isdigit():
        return float(asked)
    now = _moment(headers.get("date", ""))
    until = _moment(asked)
    if now is not None and until is not None:
        return max(until - now, FIRST_SECONDS)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit() and now is not None:
        return max(float(reset) - now, FIRST_SECONDS)
    first = SECONDARY_SECONDS if status in PACED else FIRST_SECONDS
    return float(first * 2 ** (attempt - 1))


def _moment(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        return None
