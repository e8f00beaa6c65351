"""The hidden first line of our comment: which workflow it belongs to, and which head and run it speaks of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

_LINE = re.compile(
    r"<!-- torchscan-action:1 wf=(?P<workflow>[0-9a-f]{16}) id=(?P<comment_id>[A-Za-z0-9_.-]{1,80}) "
    r"head=(?P<head_sha>[0-9a-f]{40,64}) base=(?P<base_sha>[0-9a-f]{40,64}|none) "
    r"run=(?P<run_id>\d{1,19}) attempt=(?P<run_attempt>\d{1,9}) -->"
)
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Identity (``workflow``, ``comment_id``) and age (``run_id``, ``run_attempt``) of one comment."""

    workflow: str
    comment_id: str
    head_sha: str
    base_sha: str
    run_id: int
    run_attempt: int

    def line(self) -> str:
        """Write the comment's first line."""
        return (
            f"<!-- torchscan-action:1 wf={self.workflow} id={self.comment_id} head={self.head_sha} "
            f"base={self.base_sha} run={self.run_id} attempt={self.run_attempt} -->"
        )

    def is_same_comment(self, other: Marker) -> bool:
        """Whether both are of one workflow and one comment id, whatever they measured."""
        return (self.workflow, self.comment_id) == (other.workflow, other.comment_id)

    def is_newer_than(self, other: Marker) -> bool:
        """Whether this was measured by a later run, or by a later attempt of the same run."""
        return (self.run_id, self.run_attempt) > (other.run_id, other.run_attempt)


def make_marker(
    *, workflow_path: str, comment_id: str, head_sha: str, base_sha: str | None, run_id: int | None, run_attempt: int
) -> Marker:
    """Build a marker. Paths and odd ids enter as hashes, so that nothing of theirs can close the HTML comment."""
    plain = bool(_PLAIN_ID.fullmatch(comment_id)) and "--" not in comment_id
    return Marker(
        workflow=_digest(workflow_path),
        comment_id=comment_id if plain else f"sha-{_digest(comment_id)}",
        head_sha=head_sha,
        base_sha=base_sha or "none",
        run_id=run_id or 0,
        run_attempt=run_attempt,
    )


def parse_marker(body: str) -> Marker | None:
    """Read the marker of a comment. Only at the very start: a marker that is quoted further down is somebody's text."""
    first = body.lstrip("\ufeff").split("\n", 1)[0].rstrip()
    match = _LINE.fullmatch(first)
    if match is None:
        return None
    fields = match.groupdict()
    return Marker(
        workflow=fields["workflow"],
        comment_id=fields["comment_id"],
        head_sha=fields["head_sha"],
        base_sha=fields["base_sha"],
        run_id=int(fields["run_id"]),
        run_attempt=int(fields["run_attempt"]),
    )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
