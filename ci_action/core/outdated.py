"""Say in a comment whose numbers are left as they are that the pull request has moved on since."""

from __future__ import annotations

import re

SHORT_SHA = 7
FACTS_WITHIN = 6
"""The facts line is the fourth of a comment; further down the same words are somebody else's."""

_FACTS = re.compile(r"(?:\*\*Outdated\*\*: measured `[0-9a-f]+`, head is now `[0-9a-f]+`\. )?(?P<facts>Gate \*\*.*)")


def marked_outdated(body: str, *, measured_sha: str, current_sha: str) -> str | None:
    """The comment with its facts line prefixed, once; None where it has no such line or says so already."""
    lines = body.split("\n")
    for number, line in enumerate(lines[:FACTS_WITHIN]):
        if found := _FACTS.fullmatch(line.rstrip("\r")):
            short = measured_sha[:SHORT_SHA], current_sha[:SHORT_SHA]
            said = "**Outdated**: measured `{}`, head is now `{}`. {}".format(*short, found["facts"])
            marked = "\n".join([*lines[:number], said, *lines[number + 1 :]])
            return None if said == line.rstrip("\r") else marked
    return None
