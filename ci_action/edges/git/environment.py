"""The environment of every git call: the user's way to the remote, and nothing that points git elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.edges.git.config import as_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KEPT = frozenset(
    {
        "GIT_ASKPASS",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_HTTP_PROXY_AUTHMETHOD",
        "GIT_PROXY_COMMAND",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSL_CERT",
        "GIT_SSL_KEY",
        "GIT_SSL_NO_VERIFY",
    }
)
"""How a user reaches the remote. Any other GIT_* variable points git at another repository (GIT_DIR, GIT_INDEX_FILE,
GIT_NAMESPACE...), at other programs (GIT_EXEC_PATH, GIT_EXTERNAL_DIFF, GIT_TEMPLATE_DIR), or writes headers into a log
(GIT_TRACE_CURL)."""

_NUMBERED = re.compile(r"GIT_CONFIG_(KEY|VALUE)_\d+")
_OURS = ("TORCHSCAN_", "ACTIONS_")
"""Inputs and the runner's own tokens: no program that git starts needs them."""
_LOADERS = ("PYTHON", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT")
"""What makes a program load other code at its start: a credential helper may be a script in Python."""

FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_HTTP_LOW_SPEED_LIMIT": "1000",
    "GIT_HTTP_LOW_SPEED_TIME": "60",
    "GIT_NO_REPLACE_OBJECTS": "1",  # neither a replace ref nor a graft may change what a commit is
    "GIT_GRAFT_FILE": os.devnull,
}

LOCAL = {
    "GIT_LITERAL_PATHSPECS": "1",  # not for git-lfs, which finds its files by the pattern ":(attr:filter=lfs)"
    "GIT_NO_LAZY_FETCH": "1",  # git 2.45, and older ones as their distributions mended them
    "GIT_ALLOW_PROTOCOL": "none",  # older ones start a fetch for each object that a partial clone lacks: let it fail
}
"""Added to each call that is not meant to talk to a server. No transport is called "none"."""

READS_GLOBAL_VARIABLE = (2, 32)
"""The first git that reads ``GIT_CONFIG_GLOBAL``."""


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of every call: the user's way to the remote stays, whatever points elsewhere goes."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(("GIT_", *_OURS, *_LOADERS)) or name in KEPT or _NUMBERED.fullmatch(name)
    }
    return kept | FIXED | {"PATH": _trusted_path(environ)}


def _trusted_path(environ: Mapping[str, str]) -> str:
    """Return the folders in which git, and what git starts, is looked for.

    On a runner none of them is relative or inside the workspace: a job may put ``node_modules/.bin`` on its PATH, and a
    pull request a program of the name ``git`` into it.
    """
    path = environ.get("PATH", os.defpath)
    if environ.get("GITHUB_ACTIONS") != "true" or not environ.get("GITHUB_WORKSPACE"):
        return path
    workspace = Path(environ["GITHUB_WORKSPACE"]).resolve()
    folders = [Path(entry) for entry in path.split(os.pathsep)]
    trusted = [str(one) for one in folders if one.is_absolute() and not one.resolve().is_relative_to(workspace)]
    return os.pathsep.join(trusted)


def trusting(
    directories: Iterable[Path], folder: Path, environ: Mapping[str, str], version: tuple[int, ...]
) -> dict[str, str]:
    """Return variables with which git accepts these directories although another user owns them, as in a container.

    Git before 2.38 takes ``safe.directory`` from the system's and the user's config only. ``folder`` gets a config in
    the user's place that includes the real one. HOME stays as it is: netrc, ssh and credential helpers look there.
    """
    trusted = [("safe.directory", directory.as_posix()) for directory in directories]
    if version >= READS_GLOBAL_VARIABLE:
        private = folder / "global"
        _write(private, [*(("include.path", str(file)) for file in _user_files(environ)), *trusted])
        return {"GIT_CONFIG_GLOBAL": str(private)}
    # Older ones look at $XDG_CONFIG_HOME/git/config beside ~/.gitconfig. All else that lies there stays in its place.
    real, private = _xdg(environ), folder / "xdg"
    _link_all(real, private, but="git")
    _link_all(real / "git", private / "git", but="config")
    _write(private / "git" / "config", [("include.path", str(real / "git" / "config")), *trusted])
    return {"XDG_CONFIG_HOME": str(private)}


def _user_files(environ: Mapping[str, str]) -> list[Path]:
    """The files that make up the user's own config, in git's order."""
    named = environ.get("GIT_CONFIG_GLOBAL")
    if named is not None:
        return [Path(named).absolute()] if named else []
    home = environ.get("HOME")
    return [_xdg(environ) / "git" / "config", *([Path(home).absolute() / ".gitconfig"] if home else [])]


def _xdg(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME") or os.sep, ".config")).absolute()


def _link_all(source: Path, target: Path, *, but: str) -> None:
    target.mkdir(parents=True, exist_ok=True)
    try:
        entries = sorted(source.iterdir())
    except OSError:  # none there, or not ours to list
        return
    for entry in entries:
        link = target / entry.name
        if entry.name != but and not link.is_symlink():
            link.symlink_to(entry)


def _write(path: Path, pairs: list[tuple[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_file(pairs), encoding="utf-8", errors="surrogateescape")
