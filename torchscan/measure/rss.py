"""Peak resident set of a child process, as the kernel counted it.

A child that is forked or spawned straight from a large process inherits its high-water mark: before ``exec`` it runs
in its parent's memory, and the kernel keeps the larger figure. So the command is started by a fresh interpreter that
imports next to nothing, and that interpreter's own ``wait4`` is read. Its few MiB are the least that can be reported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from torchscan.measure.settings import check_command
from torchscan.report.benchmark import PeakRss

_LAUNCHER = Path(__file__).with_name("rss_launcher.py")
_SUPPORTED = ("linux", "darwin")


def measure_peak_rss(command: Sequence[str]) -> PeakRss:
    """Run a command without a shell and give the peak resident bytes over its whole life, imports included.

    The command inherits working directory, environment and standard streams. What its own children take does not count.

    Raises:
        NotImplementedError: the platform is neither Linux nor macOS; raised before anything starts.
        TypeError, ValueError: ``command`` is not a sequence of strings.
        FileNotFoundError, PermissionError: the program cannot be started.
        subprocess.CalledProcessError: the command failed; a negative code is the signal that ended it.
    """
    check_rss_platform()
    words = check_command("command", command)
    outcome = _launch(words)
    if "errno" in outcome:
        raise OSError(outcome["errno"], os.strerror(outcome["errno"]), words[0])
    if outcome["returncode"] != 0:
        raise subprocess.CalledProcessError(outcome["returncode"], words)
    # Linux counts KiB, macOS bytes.
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return {
        "metric": "process_peak_rss",
        "scope": "child_process_lifetime",
        "method": "wait4_ru_maxrss",
        "peak_bytes": outcome["max_rss"] * unit_bytes,
    }


def check_rss_platform() -> None:
    """Refuse platforms without wait4, before anything starts."""
    if sys.platform not in _SUPPORTED:
        raise NotImplementedError(f"process peak RSS is measured on Linux and macOS, not on {sys.platform}")


def _launch(words: list[str]) -> dict[str, int]:
    reader, writer = os.pipe()
    # -I and -S: no site-packages, no PYTHON* variables; the command itself still gets the environment as it is
    launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), str(writer), *words]
    with os.fdopen(reader, "rb") as result:
        try:
            process = subprocess.Popen(launcher, pass_fds=(writer,))
        finally:
            os.close(writer)
        try:
            answer = result.read()
            process.wait()
        except BaseException:
            process.terminate()  # the launcher passes it on, so an interrupted measurement leaves no child behind
            process.wait()
            raise
    if not answer:
        raise subprocess.CalledProcessError(process.returncode, words)
    outcome: dict[str, int] = json.loads(answer)
    return outcome
