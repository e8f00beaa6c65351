"""Partial clones (``filter: blob:none``, ``tree:0``, ``sparse-checkout``): everything of a commit is fetched at once.

Git itself would fetch each absent object when it meets it, with whatever credentials it then has: in the stage that
measures there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci_action.edges.git.credentials import is_refused
from ci_action.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ci_action.edges.git.call import GitCall

_MARKS = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"
ROUNDS = 3
"""A folder that is fetched brings all below it, so one round is enough, unless the server sends less than asked for."""


def complete(git: GitCall, sha: str, fetch: Callable[[list[str]], str]) -> None:
    """Fetch every file and folder of a commit that a partial clone lacks.

    ``fetch`` takes the ids of objects and returns git's complaint, or nothing. Raises GitError if any stays away.
    """
    if not git.listed(_MARKS):
        return
    missing, said = _missing(git, sha), ""
    for _ in range(ROUNDS):
        if not missing or said:
            break
        said = fetch(missing)
        missing = _missing(git, sha)
    if missing:
        todo = (
            "give this job the right to read the repository (contents: read)"
            if is_refused(said)
            else "check the repository out without `filter` and `sparse-checkout`"
        )
        reason = said or "the server sends them not"
        raise GitError(f"commit {sha[:12]} lacks {len(missing)} objects in this partial clone ({reason}): {todo}")


def _missing(git: GitCall, sha: str) -> list[str]:
    listed = git.text("rev-list", "--objects", "--no-object-names", "--no-walk", "--missing=print", sha)
    return [line[1:] for line in listed.splitlines() if line.startswith("?")]
