"""Which git this is, and whether it is new enough."""

from __future__ import annotations

import re

from ci_action.errors import GitError

OLDEST = (2, 30)
"""Debian 11's. Before it, ``rev-parse --end-of-options`` is not known, and ``fetch`` always writes FETCH_HEAD."""

_SAID = re.compile(r"git version (\d+)\.(\d+)(?:\.(\d+))?")


def supported(said: str) -> tuple[int, ...]:
    """Return the version that ``git version`` names. Raises GitError for one that is too old, or for no git at all."""
    found = _SAID.match(said)
    if found is None:
        raise GitError(f"`git version` answers {said.strip()[:80]!r}: put a real git on PATH")
    numbers = tuple(int(part) for part in found.groups(default="0"))
    if numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise GitError(
            f"git {'.'.join(map(str, numbers))} is too old, {oldest} is the oldest that works: "
            "install a newer git in an earlier step, before the checkout"
        )
    return numbers
