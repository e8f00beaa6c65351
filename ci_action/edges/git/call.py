"""One git process: hardened, timed, and its failure turned into one sentence."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.edges.git.environment import (
    HARDENING,
    as_variables,
    base_environment,
    credentials,
    trusted,
    without_filters,
)
from ci_action.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CALL_SECONDS = 600.0


class GitCall:
    """Runs git in one directory. ``variables`` may be extended, e.g. by a scratch object store."""

    def __init__(self, directory: Path, *, trust: bool = False) -> None:
        self.directory = directory
        config = list(HARDENING)
        if trust:
            config += trusted(_checkouts_around(directory))
        self._config = config
        self.variables: dict[str, str] = {}
        self._config += without_filters(self.listed("--name-only", "--get-regexp", r"^filter\."))

    def authenticate(self, token: str, server_url: str) -> None:
        """Send ``token`` to ``server_url``, unless the checkout already carries its own credentials."""
        if not self.listed("--name-only", "--get-regexp", r"^http\..*\.?extraheader$"):
            self._config.append(credentials(token, server_url))

    def text(self, *arguments: str, directory: Path | None = None) -> str:
        """Standard output as text. Raises GitError with what git said."""
        done = self.run(*arguments, directory=directory)
        if done.returncode:
            raise GitError(f"git {arguments[0]} failed in {self.directory}: {complaint(done)}")
        return done.stdout.decode("utf-8", errors="surrogateescape")

    def succeeds(self, *arguments: str) -> bool:
        """Whether git exits with 0."""
        return self.run(*arguments).returncode == 0

    def run(
        self,
        *arguments: str,
        directory: Path | None = None,
        extra: Mapping[str, str] | None = None,
        config: Sequence[tuple[str, str]] = (),
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git without judging its exit code. ``config`` outranks what every call is given."""
        set_up = as_variables([*self._config, *config])
        environment = {**base_environment(os.environ), **set_up, **self.variables, **(extra or {})}
        try:
            return subprocess.run(
                ["git", "--literal-pathspecs", *arguments],
                cwd=directory or self.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
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

    def own_headers(self) -> list[tuple[str, str]]:
        """The headers that the checkout sends to one server each; a submodule's clone reads no config of its parent.

        A header for every server is left out: a pull request may name any server in .gitmodules.
        """
        found = self.run("config", "-z", "--get-regexp", r"^http\.https?://.*\.extraheader$").stdout.decode()
        pairs = [entry.partition("\n")[::2] for entry in found.split("\0") if entry]
        resets = [(key, "") for key in dict(pairs)]  # an empty value ends the list so far: no header goes out twice
        return [*resets, *pairs]

    def listed(self, *arguments: str) -> list[str]:
        """What ``git config`` lists, word by word."""
        return self.run("config", *arguments).stdout.decode("utf-8", errors="replace").split()


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line of git's complaint, cut: git repeats itself."""
    lines = [line.strip() for line in done.stderr.decode("utf-8", errors="replace").splitlines() if line.strip()]
    return (lines[-1] if lines else f"exit code {done.returncode}")[:300]


def _checkouts_around(directory: Path) -> list[Path]:
    """The nearest enclosing checkout: the only directory whose foreign owner is accepted."""
    resolved = directory.resolve()
    return [path for path in (resolved, *resolved.parents) if (path / ".git").exists()][:1]
