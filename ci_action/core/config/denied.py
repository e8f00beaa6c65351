"""Names of environment variables that no config can pass to measured code: credentials, and what replaces our code."""

from __future__ import annotations

from fnmatch import fnmatchcase

DENIED = (
    *("GITHUB_*", "GH_*", "ACTIONS_*", "INPUT_*", "RUNNER_*", "TORCHSCAN_*"),
    *("GIT_*", "SSH_*", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "LD_PRELOAD", "DYLD_INSERT_*"),
)


def is_denied(name: str) -> bool:
    """Whether a variable never reaches measured code, whatever the config says."""
    return any(fnmatchcase(name.upper(), pattern) for pattern in DENIED)
