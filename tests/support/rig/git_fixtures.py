"""What tests with several gits share: each git in turn as the git, and programs that must never run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.git_repositories import Repo
from support.rig.git_versions import SuiteGoneError, UnpackedGit, unpacked

PROGRAM = "#!/bin/sh\necho \"$0 $*\" >> '{sentinel}'\ncat\n"


def use_git(suite: str, patch: pytest.MonkeyPatch) -> UnpackedGit:
    """Make a suite's git the git of this test. A suite that is gone is a skip with its reason."""
    try:
        made = unpacked(suite)
    except SuiteGoneError as error:
        pytest.skip(str(error))
    patch.setenv("PATH", made.on_path(os.environ))
    return made


def plant_programs(repo: Repo, folder: Path) -> Path:
    """Set up a program wherever a repository can name one, and return the file that exists if any of them ran."""
    sentinel, script = folder / "ran", folder / "run-me.sh"
    script.write_text(PROGRAM.format(sentinel=sentinel))
    script.chmod(0o755)
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "post-commit"):
        (hooks / hook).write_bytes(script.read_bytes())
        (hooks / hook).chmod(0o755)
    for name in ("one", "two.dotted", "three = and more"):
        for key in ("smudge", "clean", "process"):
            repo.git("config", f"filter.{name}.{key}", str(script))
        repo.git("config", f"filter.{name}.required", "true")
    for key in ("core.fsmonitor", "core.pager", "core.editor", "diff.external", "core.alternateRefsCommand"):
        repo.git("config", key, str(script))
    for command in ("worktree", "config", "rev-parse", "cat-file", "lfs"):
        repo.git("config", f"alias.{command}", f"!{script}")
    attributes = "*.py filter=one diff=one\n*.txt filter=two.dotted\n"
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "attributes").write_text(attributes)
    repo.git("config", "diff.one.textconv", str(script))
    sentinel.unlink(missing_ok=True)
    return sentinel
