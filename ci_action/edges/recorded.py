"""The ConfigSource port for a job without a checkout: what GitHub said once is what every later step reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci_action.ports import RemoteRepository


@dataclass(slots=True)
class RecordedRepository:
    """Files and changed paths as GitHub gave them, so that a later step judges by the same. ``remote`` is asked once.

    Reads as git does: a config is looked for by commit and path.
    """

    number: int
    remote: RemoteRepository | None = None
    files: dict[tuple[str, str], str | None] = field(default_factory=dict)
    touched: list[list[str] | None] = field(default_factory=list)

    def read(self, sha: str, path: str) -> str | None:
        """A file's text at a commit, or None."""
        if (sha, path) not in self.files:
            self.files[sha, path] = self.remote.read(sha, path) if self.remote else None
        return self.files[sha, path]

    def changed_paths(self, base: str, head: str) -> list[str] | None:
        """What the pull request touches: GitHub lists it for the pull request, whichever commits are named."""
        del base, head
        if not self.touched:
            self.touched.append(self.remote.changed_paths(self.number) if self.remote else None)
        return self.touched[0]
