"""The working tree as a commit, without a trace in the repository: its index is copied, its objects lie elsewhere."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from ci_action.edges.git.call import complaint
from ci_action.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ci_action.edges.git.call import GitCall

PERSON = {f"GIT_{role}_{key}": "torchscan" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}


def capture(git: GitCall, top: Path, scratch: Path) -> str:
    """Return a commit of the working tree at ``top``. From now on ``git`` also knows the objects in ``scratch``.

    Untracked files are in it, ignored ones are not. Raises GitError.
    """
    store, index, copy = scratch / "objects", git.path("--git-path", "index"), scratch / "index"
    objects = git.path("--git-path", "objects")
    store.mkdir(parents=True, exist_ok=True)
    git.variables = {"GIT_OBJECT_DIRECTORY": str(store), "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects)}
    if index.exists():
        # Its cached stats spare git from reading every file again. Git trusts those of files that are older than the
        # index, so a copy with a newer time would hide an edit from the tick in which the index was written.
        shutil.copy2(index, copy)
    extra = {"GIT_INDEX_FILE": str(copy), **PERSON}
    _look_at_all(git, top, extra)
    _checked(git, top, extra, "add", "--all", "--", ".")
    tree = _checked(git, top, extra, "write-tree", "--missing-ok")  # a partial clone lacks what was not edited
    return _checked(git, top, extra, "commit-tree", tree, "-p", "HEAD", "-m", "working tree")


def _look_at_all(git: GitCall, top: Path, extra: Mapping[str, str]) -> None:
    """Take back in the copy what tells git to overlook files: the owner asked for the working tree as it stands.

    Files that a sparse checkout leaves out stay as HEAD has them; one of them that is there all the same counts.
    """
    entries = _checked(git, top, extra, "ls-files", "-v", "-z").split("\0")
    unwatched = [entry[2:] for entry in entries if entry[:1].islower()]
    skipped = [entry[2:] for entry in entries if entry[:1] in {"S", "s"} and os.path.lexists(top / entry[2:])]
    for mark, paths in (("--no-assume-unchanged", unwatched), ("--no-skip-worktree", skipped)):
        if paths:
            _checked(
                git, top, extra, "update-index", mark, "-z", "--stdin", given="".join(f"{path}\0" for path in paths)
            )


def _checked(git: GitCall, top: Path, extra: Mapping[str, str], *arguments: str, given: str = "") -> str:
    done = git.run(*arguments, directory=top, extra=extra, given=given)
    if done.returncode:
        raise GitError(f"the working tree of {top} cannot be captured: {complaint(done)}")
    return done.stdout.decode("utf-8", errors="surrogateescape").strip()
