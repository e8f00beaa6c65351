"""A side's worktree as it was made, held against what it is now: each process of base starts from base's own commit.

Head's code runs as the same user. It could slow base down by an edit of base's files, or leave a module or bytecode
there that base then imports. The time of a file's last change (ctime) cannot be set back without the rights of root.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from ci_action.core.spec import Failure, a_failure
from ci_action.core.timing.evidence import TREE_CHANGED

_Mark = tuple[int, ...]


class TreeGuard:
    """Remembers some folders as they are now."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._marks = self._look()

    def failure(self) -> Failure | None:
        """Return why no process may start from these folders: a file was changed. What is new there is removed."""
        now = self._look()
        changed = sorted(path for path, mark in self._marks.items() if now.get(path) != mark)
        if changed:
            said = f"{Path(changed[0]).name} in base's worktree was changed while base was measured"
            return a_failure("isolation", TREE_CHANGED, said)
        for path in sorted(now.keys() - self._marks.keys()):
            _remove(path)
        return None

    def _look(self) -> dict[str, _Mark]:
        """Return a mark for each file and link, and for each folder its kind: its times change with what is in it."""
        found: dict[str, _Mark] = {}
        for top in self._folders:
            for place, folders, files in os.walk(top):
                for name in (*folders, *files):
                    path = os.path.join(place, name)  # noqa: PTH118 # a tree may hold 50,000 files
                    with suppress(FileNotFoundError):
                        found[path] = _mark(os.lstat(path))
        return found


def _mark(seen: os.stat_result) -> _Mark:
    if stat.S_ISDIR(seen.st_mode):
        return (stat.S_IFMT(seen.st_mode), seen.st_ino)
    return (seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def _remove(path: str) -> None:
    with suppress(OSError):  # gone with its folder, or not ours to remove: then the next look names it
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 # as above
            shutil.rmtree(path)
        else:
            os.unlink(path)  # noqa: PTH108 # as above
