"""``environment = "separate"``: each side's own virtual environment, home, temporary folder and caches [S20].

What head installs or caches cannot reach base. The owner's command fills the environment from the side's own worktree.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.edges.workers.death import cause
from ci_action.edges.workers.place import ChildLimits, Interpreter
from ci_action.edges.workers.watch import WatchedProcess, shown_output
from ci_action.errors import MeasurementError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci_action.core.spec import WorkerSpec

INSTALL_SECONDS = 1800.0
"""A wheel of torch over a slow line, twice."""

FOLDERS = {
    "HOME": "home",
    "USERPROFILE": "home",
    "TMPDIR": "tmp",
    "TEMP": "tmp",
    "TMP": "tmp",
    "TORCH_HOME": "cache/torch",
    "TORCHINDUCTOR_CACHE_DIR": "cache/inductor",
    "TRITON_CACHE_DIR": "cache/triton",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
}
"""Every place where code keeps something by habit, inside the side's own folder."""
FOREIGN = ("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_VERSION", "PYTHONUSERBASE", "TORCH_EXTENSIONS_DIR")
"""What would lead back to the environment that both sides share."""


def make_environment(spec: WorkerSpec, install: Sequence[str], shared: Interpreter, folder: Path) -> Interpreter:
    """Make a side's environment in ``folder`` and run its install command in its worktree.

    Raises MeasurementError with the side and the last line of what was printed.
    """
    places = {name: folder / part for name, part in FOLDERS.items()}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    venv = folder / "venv"
    binaries = venv / ("bin" if os.name == "posix" else "Scripts")
    own = {name: value for name, value in shared.environment.items() if name not in FOREIGN}
    own |= {name: str(place) for name, place in places.items()}
    own |= {"VIRTUAL_ENV": str(venv), "PYTHONNOUSERSITE": "1"}
    own["PATH"] = os.pathsep.join([str(binaries), own.get("PATH", os.defpath)])
    without_ours = {name: value for name, value in own.items() if name != "PYTHONPATH"}
    python = str(binaries / "python")
    for words in ([shared.python, "-I", "-m", "venv", str(venv)], list(install)):
        _run(words, spec, without_ours, folder / "install.txt")
    return Interpreter(python=python, environment=own)


def _run(words: Sequence[str], spec: WorkerSpec, environment: Mapping[str, str], output: Path) -> None:
    side, shown = spec["side"], " ".join(words)[:200]
    command = [_found(words[0], environment), *words[1:]]
    try:
        process = WatchedProcess(command, cwd=Path(spec["root"]), environment=environment, output=output)
    except OSError as error:
        hint = ": give each word of install as an item of the list" if len(words) == 1 and " " in shown else ""
        raise MeasurementError(f"{side}: `{shown}` cannot be started ({error.strerror}){hint}") from error
    try:
        if process.wait(ChildLimits(timeout_seconds=INSTALL_SECONDS), owed="end"):
            raise MeasurementError(f"{side}: `{shown}` did not end within {INSTALL_SECONDS:.0f} s")
    finally:
        process.kill()  # also what it may have left behind
    if process.returncode:
        lines = [line.strip() for line in shown_output(output).splitlines() if line.strip()]
        said = lines[-1][:300] if lines else cause(process.returncode, process.peak_bytes)
        raise MeasurementError(f"{side}: `{shown}` failed: {said}")


def _found(word: str, environment: Mapping[str, str]) -> str:
    """Look a command up on the side's own PATH: a child's PATH does not decide where the child itself is found."""
    import shutil

    return shutil.which(word, path=environment["PATH"]) or word
