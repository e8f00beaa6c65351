"""What a worktree holds besides git's own files, where the owner asks for it: submodules and LFS objects."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ci_action.edges.git.call import complaint
from ci_action.edges.git.config import without_programs
from ci_action.edges.git.credentials import WANTED, is_refused
from ci_action.errors import GitError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from ci_action.edges.git.call import GitCall
    from ci_action.edges.git.config import Pair


def fill_submodules(git: GitCall, worktree: Path) -> None:
    """Check out every submodule that .gitmodules names, nested ones too. Raises GitError with git's first reason.

    All are declared active instead of ``--init``, which would write into the config that the workspace shares and stop
    at a gitlink without an entry. ``--checkout`` outranks ``submodule.<name>.update = !command`` of a local config.
    """
    config = [("submodule.active", "."), *git.credentials.for_submodules()]
    done = git.online("submodule", "--quiet", "update", "--recursive", "--checkout", directory=worktree, config=config)
    if done.returncode:
        reason = complaint(done)
        todo = "give this job the right to read it" if is_refused(reason) else "make its URL in .gitmodules readable"
        raise GitError(
            f"submodules = true, and a submodule cannot be checked out ({reason}): "
            f"{todo} for this job, or set submodules = false"
        )


def fetch_lfs(git: GitCall, remote: str, commits: Sequence[str]) -> None:
    """Store the LFS objects of commits in the repository, where each of its worktrees finds them. Raises GitError."""
    _check_program()
    _checked(git.online("lfs", "fetch", remote, *commits, config=_config(git, git.directory)), "fetch")


def pull_lfs(git: GitCall, worktree: Path) -> None:
    """Put the repository's LFS objects in the place of their pointers. Raises GitError, also without git-lfs."""
    _check_program()
    # git-lfs leaves the pointers where no clean filter is set, and ours are all emptied.
    config = [*_config(git, worktree), ("filter.lfs.clean", "git-lfs clean -- %f")]
    _checked(git.online("lfs", "pull", directory=worktree, config=config), "pull")


def _check_program() -> None:
    if shutil.which("git-lfs") is None:  # asking git instead would run an alias of that name
        raise GitError(
            "lfs = true needs git-lfs, which is not on PATH: install it in an earlier step, or set lfs = false"
        )


def _config(git: GitCall, directory: Path) -> list[Pair]:
    programs = without_programs(key for key, _ in git.listed(r"^lfs\.", directory=directory))
    return [*programs, *git.credentials.unseen(git.listed(WANTED, directory=directory))]


def _checked(done: subprocess.CompletedProcess[bytes], verb: str) -> None:
    if done.returncode == 0:
        return
    lines = done.stderr.decode("utf-8", errors="replace").splitlines()
    reason = next((line.strip()[:300] for line in lines if line.startswith("batch response:")), complaint(done))
    todo = "give this job the right to read" if is_refused(reason) else "see that its server has"
    raise GitError(f"lfs = true, and git lfs {verb} failed ({reason}): {todo} the objects, or set lfs = false")
