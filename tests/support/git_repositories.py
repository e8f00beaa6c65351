"""Real git repositories in temporary folders, built commit by commit, blind to the machine's own git config."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PERSON = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "test",
    "GIT_AUTHOR_EMAIL": "test@example.com",
    "GIT_COMMITTER_NAME": "test",
    "GIT_COMMITTER_EMAIL": "test@example.com",
}


@dataclass(frozen=True)
class Repo:
    """A repository with a working tree."""

    path: Path

    def git(self, *arguments: str) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | PERSON
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.path,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str | None], message: str = "change") -> str:
        """Write or remove files, commit, and return the new SHA."""
        for name, text in files.items():
            path = self.path / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def commit_many(self, changes: Sequence[Mapping[str, str]]) -> list[str]:
        """Commit texts of files on top of main, one commit each, in one process; returns the new SHAs."""
        stream, count = "", len(changes)
        for number, files in enumerate(changes):
            above = "from refs/heads/main^0\n" if number == 0 else ""
            stream += f"commit refs/heads/main\ncommitter test <test@example.com> {1600000000 + number} +0000\n"
            stream += f"data 6\nchange\n{above}"
            for name, text in files.items():
                stream += f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
        subprocess.run(
            ["git", "fast-import", "--quiet", "--date-format=raw"], cwd=self.path, input=stream.encode(), check=True
        )
        self.git("reset", "--quiet", "--hard", "main")
        return self.git("rev-list", "--reverse", f"-{count}", "main").splitlines()

    def state(self) -> tuple[str, str, str]:
        """What must not change: HEAD, the status, and the worktrees that git knows."""
        return (
            self.git("rev-parse", "HEAD"),
            self.git("status", "--porcelain", "--ignored"),
            self.git("worktree", "list", "--porcelain"),
        )


def make_repo(path: Path) -> Repo:
    path.mkdir(parents=True)
    repo = Repo(path)
    repo.git("init", "--quiet", "-b", "main")
    return repo


def clone(source: Repo, path: Path, *options: str, allow_any_sha: bool = True) -> Repo:
    """Clone over the file protocol, as actions/checkout would over HTTPS."""
    source.git("config", "uploadpack.allowAnySHA1InWant", str(allow_any_sha).lower())
    source.git("config", "uploadpack.allowReachableSHA1InWant", str(allow_any_sha).lower())
    subprocess.run(
        ["git", "clone", "--quiet", *options, f"file://{source.path}", str(path)],
        env=os.environ | PERSON,
        check=True,
        capture_output=True,
    )
    return Repo(path)
