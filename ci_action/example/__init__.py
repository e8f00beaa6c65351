"""A small repository with three models, before and after a change: what ``torchscan-ci demo`` measures."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
PERSON = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "TorchScan demo"), ("EMAIL", "demo@example.com"), ("DATE", "2026-01-01T00:00:00Z"))
}


def build_repository(folder: Path) -> None:
    """Make a git repository in ``folder``: the state before on branch main, the change on branch wider-cnn."""
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "init", "--quiet", "--initial-branch", "main")
    _commit(folder, HERE / "base", "Three models and the limits that their owner wrote")
    _git(folder, "checkout", "--quiet", "-b", "wider-cnn")
    _commit(folder, HERE / "head", "Make the CNN wider")


def _commit(folder: Path, state: Path, message: str) -> None:
    for source in sorted(state.rglob("*")):
        if source.is_file() and "__pycache__" not in source.parts:
            target = folder / source.relative_to(state)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "-m", message)


def _git(folder: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | PERSON
    plain = ("-c", "commit.gpgsign=false", "-c", f"core.hooksPath={os.devnull}")
    subprocess.run(["git", *plain, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
