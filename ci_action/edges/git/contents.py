"""What a worktree holds besides git's own files, where the owner asks for it: submodules and LFS objects."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ci_action.edges.git.call import complaint
from ci_action.edges.git.environment import without_programs
from ci_action.errors import GitError

if TYPE_CHECKING:
    from pathlib import Path

    from ci_action.edges.git.call import GitCall


def fill_submodules(git: GitCall, worktree: Path) -> None:
    """Check out every submodule that .gitmodules names, nested ones too. Raises GitError with git's first reason.

    All are declared active instead of ``--init``, which would write into the config that the workspace shares and stop
    at a gitlink without an entry. ``--checkout`` outranks ``submodule.<name>.update = !command`` of a local config.
    """
    config = [("submodule.active", "."), *git.own_headers()]
    done = git.run("submodule", "--quiet", "update", "--recursive", "--checkout", directory=worktree, config=config)
    if done.returncode:
        said = done.stderr.decode("utf-8", errors="replace").splitlines()
        reason = next((line.strip()[:300] for line in said if line.startswith("fatal:")), complaint(done))
        raise GitError(
            f"submodules = true, and a submodule cannot be checked out ({reason}): "
            "make its URL in .gitmodules readable for this job, or set submodules = false"
        )


def pull_lfs(git: GitCall, worktree: Path) -> None:
    """Put the repository's LFS objects in the place of their pointers. Raises GitError, also without git-lfs."""
    if shutil.which("git-lfs") is None:  # asking git instead would run an alias of that name
        raise GitError(
            "lfs = true needs git-lfs, which is not on PATH: install it in an earlier step, or set lfs = false"
        )
    # git-lfs leaves the pointers where no clean filter is set, and ours are all emptied.
    config = [*without_programs(git.listed("--name-only", "--get-regexp", r"^lfs\."))]
    config += [("filter.lfs.clean", "git-lfs clean -- %f")]
    done = git.run("lfs", "pull", directory=worktree, config=config)
    if done.returncode:
        raise GitError(
            f"lfs = true, and git lfs pull failed ({complaint(done)}): "
            "give this job the right to read the objects, or set lfs = false"
        )
