"""One git process: hardened, timed, and its failure turned into one sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.edges.git.config import HARDENING, Pair, without_filters, written
from ci_action.edges.git.credentials import WANTED, Credentials, resolve
from ci_action.edges.git.environment import LOCAL, base_environment, trusting
from ci_action.edges.git.version import supported
from ci_action.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CALL_SECONDS = 600.0
_BY_SSH = "fatal: Could not read from remote repository."


class GitCall:
    """Runs git in one directory. ``variables`` may be extended, e.g. by a scratch object store.

    ``scratch`` takes a file of settings for each call. Raises GitError for a git that is too old.
    """

    def __init__(self, directory: Path, *, scratch: Path, trust: bool = False) -> None:
        self.directory = directory
        self.variables: dict[str, str] = {}
        self.credentials = Credentials()
        scratch.mkdir(parents=True, exist_ok=True)
        self._private = Path(tempfile.mkdtemp(prefix="git-", dir=scratch)).resolve()
        self._config = list(HARDENING)
        self._trusting: dict[str, str] = {}
        version = supported(self.text("version"))
        if trust:
            self._trusting = trusting(_checkouts_around(directory), self._private, os.environ, version)
        self._config += self.filters_off(directory)

    def authenticate(self, token: str | None, server_url: str) -> None:
        """Find the checkout's own credentials, and send ``token`` to ``server_url`` where it has none for it."""
        self.credentials = resolve(self.listed(WANTED), token=token, server_url=server_url)

    def text(self, *arguments: str, directory: Path | None = None, config: Sequence[Pair] = ()) -> str:
        """Return standard output as text. Raises GitError with what git said."""
        done = self.run(*arguments, directory=directory, config=config)
        if done.returncode:
            raise GitError(f"git {arguments[0]} failed in {self.directory}: {complaint(done)}")
        return done.stdout.decode("utf-8", errors="surrogateescape")

    def succeeds(self, *arguments: str) -> bool:
        """Check whether git exits with 0."""
        return self.run(*arguments).returncode == 0

    def online(
        self, *arguments: str, config: Sequence[Pair] | None = None, directory: Path | None = None, given: str = ""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git with the right to talk to a server, by default with the credentials. ``given`` is standard input.

        The repository's own object store is used: a fetch into another one would leave the record of what is shallow
        without the commits that it names.
        """
        return self._run(
            arguments,
            directory=directory,
            config=self.credentials.for_git() if config is None else config,
            given=given,
        )

    def run(
        self,
        *arguments: str,
        directory: Path | None = None,
        extra: Mapping[str, str] | None = None,
        config: Sequence[Pair] = (),
        given: str = "",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git without a server and without judging its exit code. ``config`` outranks what every call is given.

        Raises GitError where git cannot be started or does not end.
        """
        variables = {**LOCAL, **self.variables, **(extra or {})}
        return self._run(arguments, directory=directory, config=config, variables=variables, given=given)

    def _run(
        self,
        arguments: Sequence[str],
        *,
        directory: Path | None,
        config: Sequence[Pair],
        variables: Mapping[str, str] | None = None,
        given: str = "",
    ) -> subprocess.CompletedProcess[bytes]:
        environment = {**base_environment(os.environ), **self._trusting, **(variables or {})}
        try:
            with written([*self._config, *config], self._private) as settings:
                return subprocess.run(
                    [_program(environment["PATH"]), "-c", f"include.path={settings}", *arguments],
                    cwd=directory or self.directory,
                    env=environment,
                    input=given.encode("utf-8", errors="surrogateescape"),
                    capture_output=True,
                    timeout=CALL_SECONDS,
                    check=False,
                )
        except FileNotFoundError as error:
            raise GitError(
                f"git cannot be started in {self.directory}: install git, or give an existing folder"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} gave no answer within {CALL_SECONDS:.0f} s") from error

    def filters_off(self, directory: Path) -> list[Pair]:
        """Return config that empties every filter that a directory's config sets up: worktrees may see others."""
        return without_filters(key for key, _ in self.listed(r"^filter\.", directory=directory))

    def listed(self, pattern: str, *, directory: Path | None = None) -> list[Pair]:
        """Return what the config sets whose key matches ``pattern``, in git's order."""
        done = self.run("config", "-z", "--get-regexp", pattern, directory=directory)
        entries = done.stdout.decode("utf-8", errors="surrogateescape").split("\0")
        return [(key, value) for key, _, value in (entry.partition("\n") for entry in entries if entry)]

    def path(self, *question: str) -> Path:
        """Return a path that ``rev-parse`` answers with. Git before 2.31 has no ``--path-format=absolute``."""
        return (self.directory / self.text("rev-parse", *question).rstrip("\n")).resolve()


def _program(path: str) -> str:
    """Find git on the given path, and never in the current folder, where Windows would look first."""
    return shutil.which("git", path=path) or "git"


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the reason in git's complaint, cut: hints stand before it, and a usage text or repetitions behind."""
    lines = [line.strip() for line in done.stderr.decode("utf-8", errors="replace").splitlines() if line.strip()]
    if _BY_SSH in lines[1:]:  # what ssh or the server said stands before it
        return lines[lines.index(_BY_SSH) - 1][:300]
    return (_first(lines, "fatal:") or _first(lines, "error:") or _last(lines) or f"exit code {done.returncode}")[:300]


def _first(lines: Iterable[str], start: str) -> str:
    return next((line for line in lines if line.startswith(start)), "")


def _last(lines: Sequence[str]) -> str:
    return lines[-1] if lines else ""


def _checkouts_around(directory: Path) -> list[Path]:
    """The nearest enclosing checkout: the only directory whose foreign owner is accepted."""
    resolved = directory.resolve()
    return [path for path in (resolved, *resolved.parents) if (path / ".git").exists()][:1]
