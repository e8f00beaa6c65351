"""The environment of every git call: no hooks, no filters, no monitors, no prompts, no submodules unasked.

Everything is set through ``GIT_CONFIG_*`` variables, so that it also binds the processes that git itself starts, and
so that no secret ever stands on a command line.
"""

from __future__ import annotations

import base64
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

HARDENING: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.sparseCheckout", "false"),  # a sparse workspace must not hide files from our worktrees
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("gc.auto", "0"),  # the repository is not ours to tidy up
    ("maintenance.auto", "false"),
    ("advice.detachedHead", "false"),
)

_LFS_PROGRAM = re.compile(r"^lfs\.(customtransfer|extension)\..*\.(path|clean|smudge)$|\.standalonetransferagent$")

KEPT = frozenset(
    {
        "GIT_ASKPASS",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSL_CAINFO",
        "GIT_SSL_NO_VERIFY",
    }
)
"""How a user reaches the remote. Every other GIT_* variable (GIT_DIR, GIT_INDEX_FILE...) would point elsewhere."""

FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_HTTP_LOW_SPEED_LIMIT": "1000",
    "GIT_HTTP_LOW_SPEED_TIME": "60",
}


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Keep the user's way to the remote, drop whatever would point git at another repository."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_") or name in KEPT}
    return kept | FIXED


def without_filters(names: Iterable[str]) -> list[tuple[str, str]]:
    """Config that empties each filter driver. ``names`` are the keys of ``git config --get-regexp ^filter.``."""
    drivers = sorted({name.rpartition(".")[0] for name in names})
    off = {"smudge": "", "clean": "", "process": "", "required": "false"}
    return [(f"{driver}.{key}", value) for driver in drivers for key, value in off.items()]


def without_programs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Config that empties each program git-lfs would start. ``names``: keys of ``git config --get-regexp ^lfs.``."""
    return [(name, "") for name in sorted(set(names)) if _LFS_PROGRAM.search(name)]


def trusted(directories: Iterable[Path]) -> list[tuple[str, str]]:
    """Config that accepts these directories although another user owns them, as in a container."""
    return [("safe.directory", directory.as_posix()) for directory in directories]


def credentials(token: str, server_url: str) -> tuple[str, str]:
    """Config that sends the token to one server only."""
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return f"http.{server_url.rstrip('/')}/.extraheader", f"AUTHORIZATION: basic {basic}"


def as_variables(config: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Git config as ``GIT_CONFIG_COUNT``, ``GIT_CONFIG_KEY_n`` and ``GIT_CONFIG_VALUE_n``."""
    pairs = list(config)
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for index, (key, value) in enumerate(pairs):
        variables[f"GIT_CONFIG_KEY_{index}"] = key
        variables[f"GIT_CONFIG_VALUE_{index}"] = value
    return variables
