"""Why an interpreter cannot run a worker, asked of the interpreter itself."""

from __future__ import annotations

import subprocess

PROBE_SECONDS = 20
OLDEST_PYTHON = (3, 11)


def unfit(python: str) -> str | None:
    """Return the sentence for an interpreter that is too old or no Python at all; None if it is neither."""
    question = [python, "-I", "-c", "import sys; print('%d %d %d' % sys.version_info[:3])"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
        version = tuple(int(part) for part in answer.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        version = ()
    if len(version) != 3:
        return f"{python} is not a working Python: name another interpreter with the input python"
    if version < OLDEST_PYTHON:
        shown = ".".join(map(str, version))
        return f"{python} is Python {shown}, and 3.11 or newer is needed: name another one with the input python"
    return None
