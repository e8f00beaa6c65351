"""A real consumer repository: a base, a pull request on it, and the bare remote that checkouts clone from."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

IDENTITY = ("-c", "user.name=rig", "-c", "user.email=rig@example.invalid", "-c", "commit.gpgsign=false")
Files = Mapping[str, str]


def git(folder: Path, *arguments: str) -> str:
    """Run git without the developer's own settings and give its output."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-C", str(folder), *IDENTITY, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@dataclass(frozen=True, slots=True)
class Consumer:
    """``clone`` is where the runner starts, ``remote`` what GitHub holds: branches and ``refs/pull/<n>/…``."""

    clone: Path
    remote: Path
    number: int = 7

    @property
    def base_sha(self) -> str:
        """The tip of main."""
        return git(self.clone, "rev-parse", "main")

    @property
    def head_sha(self) -> str:
        """The tip of the pull request's branch."""
        return git(self.clone, "rev-parse", "feature")

    def commit(self, branch: str, files: Files, message: str = "change") -> str:
        """Commit files onto a branch, push what GitHub would hold, and leave the merge commit checked out."""
        git(self.clone, "checkout", "--quiet", branch)
        _write(self.clone, files)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "-m", message)
        sha = git(self.clone, "rev-parse", "HEAD")
        self.publish()
        return sha

    def publish(self) -> None:
        """Push branches and the pull request's refs; the merge commit has main as its first parent."""
        git(self.clone, "checkout", "--quiet", "--detach", "main")
        git(self.clone, "merge", "--quiet", "--no-ff", "-m", "merge", "feature")
        pull = f"refs/pull/{self.number}"
        refs = ("+main", "+feature", f"+feature:{pull}/head", f"+HEAD:{pull}/merge")
        git(self.clone, "push", "--quiet", str(self.remote), *refs)


def consumer(folder: Path, *, base: Files, head: Files) -> Consumer:
    """Make a repository whose main holds ``base`` and whose pull request adds ``head`` on top."""
    remote, clone = folder / "remote.git", folder / "clone"
    git(_made(folder), "init", "--quiet", "--bare", str(remote))
    git(remote, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(folder, "init", "--quiet", "--initial-branch=main", str(clone))
    git(clone, "remote", "add", "origin", "https://github.com/acme/widget.git")
    _write(clone, base)
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "-m", "base")
    git(clone, "branch", "feature")
    made = Consumer(clone, remote)
    made.commit("feature", head, "a change")
    return made


def export_working_tree(source: Path, target: Path) -> Path:
    """Copy what a commit of the working tree would hold: tracked and untracked files, nothing ignored."""
    listed = git(source, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, listed):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)
    return target


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(folder: Path, files: Files) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
