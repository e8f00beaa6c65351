"""The ConfigSource port for a job without a checkout: what GitHub said once is what every later step reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ci_action.core.config.committed import ABSENT

if TYPE_CHECKING:
    from ci_action.core.config.committed import CommittedFile
    from ci_action.core.plan import Commits
    from ci_action.ports import RemoteRepository


@dataclass(slots=True)
class RecordedRepository:
    """Files and changed paths as GitHub gave them, so that a later step judges by the same. ``remote`` is asked once.

    Reads as git does: a config is looked for by commit and path.
    """

    commits: Commits
    merge_sha: str | None = None
    remote: RemoteRepository | None = None
    files: dict[tuple[str, str], CommittedFile] = field(default_factory=dict)
    touched: list[list[str] | None] = field(default_factory=list)

    def read(self, sha: str, path: str) -> CommittedFile:
        """Return what a commit has at a path."""
        if (sha, path) not in self.files:
            self.files[sha, path] = self.remote.read(sha, path) if self.remote else ABSENT
        return self.files[sha, path]

    def changed_paths(self, base: str, head: str) -> list[str] | None:
        """Return the paths that differ between the commits that were proven; None where that is not known."""
        del base, head
        if not self.touched:
            self.touched.append(self.remote.changed_paths(self.commits, self.merge_sha) if self.remote else None)
        return self.touched[0]

    @property
    def are_paths_known(self) -> bool:
        """Check whether GitHub has listed what differs."""
        return bool(self.touched) and self.touched[0] is not None
