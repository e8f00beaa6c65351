"""The ConfigSource port from memory: what git or GitHub said once is what every later step judges by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ci_action.core.config.committed import ABSENT, CommittedFile

if TYPE_CHECKING:
    from ci_action.core.plan import Commits
    from ci_action.ports import ConfigSource, RemoteRepository


@dataclass(slots=True)
class RecordedRepository:
    """Files and changed paths as ``source`` gave them, asked once for each. Without a source, what it has is all."""

    source: ConfigSource | None = None
    files: dict[tuple[str, str], CommittedFile] = field(default_factory=dict)
    touched: list[list[str] | None] = field(default_factory=list)

    def read(self, sha: str, path: str) -> CommittedFile:
        """Return what a commit has at a path."""
        if (sha, path) not in self.files:
            self.files[sha, path] = self.source.read(sha, path) if self.source else ABSENT
        return self.files[sha, path]

    def changed_paths(self, base: str, head: str) -> list[str] | None:
        """Return the paths that differ between the compared commits; None where that is not known."""
        if not self.touched:
            self.touched.append(self.source.changed_paths(base, head) if self.source else None)
        return self.touched[0]

    @property
    def are_paths_known(self) -> bool:
        """Check whether it is known what differs."""
        return bool(self.touched) and self.touched[0] is not None

    def as_document(self) -> dict[str, Any]:
        """Return what was said, for a file."""
        files = [[sha, path, asdict(file)] for (sha, path), file in self.files.items()]
        return {"files": files, "touched": self.touched}

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> RecordedRepository:
        """Read it back. Raises KeyError, TypeError or ValueError for anything else."""
        files = {(sha, path): CommittedFile(**file) for sha, path, file in document["files"]}
        return cls(files=files, touched=list(document["touched"]))


@dataclass(frozen=True, slots=True)
class ProvenRepository:
    """GitHub as a ConfigSource: the commits were proven before, and what differs is asked of GitHub's own merge."""

    remote: RemoteRepository
    commits: Commits
    merge_sha: str | None

    def read(self, sha: str, path: str) -> CommittedFile:
        """Return what a commit has at a path."""
        return self.remote.read(sha, path)

    def changed_paths(self, base: str, head: str) -> list[str] | None:
        """Return the paths that differ between the proven commits."""
        del base, head
        return self.remote.changed_paths(self.commits, self.merge_sha)
