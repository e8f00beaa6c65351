"""The orchestrator's own virtual environment, made from pinned hashes by the interpreter that measures.

action.yml starts this file as a script, before anything of ours is installed: it uses the standard library alone. The
environment lies in a new folder under the current one, so that nothing of it gets into the measured environment, and
nothing of that one into it.
"""

from __future__ import annotations

import ast
import os
import secrets
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

WHERE = "index_url extra_index_url find_links no_index trusted_host proxy keyring_provider"
HOW = "cert client_cert cache_dir no_cache_dir timeout default_timeout retries"
SOURCES = frozenset(f"{WHERE} {HOW}".split())
"""pip's settings that say where wheels come from, and how to get there. Every wheel is pinned by its hash, so that no
other one can mean anything here: user, target, prefix, constraint, require-virtualenv would only break it."""
TOLD = "PIP_CONFIG_FILE"
MIN_PIP = (22, 3)
"""The first pip with ``--python``: https://pip.pypa.io/en/stable/news/#v22-3"""
LIBRARIES = ("libraries", "given-libraries")
"""LD_LIBRARY_PATH without the workspace, and as it was given: setup.sh tells them."""
FOREIGN = ("PIP_", "PYTHON", "VIRTUAL_ENV", "CONDA_", "__PYVENV", "TORCHSCAN_")
UNUSED = frozenset({"hatchling", "pathspec", "pluggy", "trove_classifiers", "packaging"})
"""What only builds: it is not compiled."""


class SetUpError(Exception):
    """Why there is no environment, in one sentence."""


def main(action: Path) -> None:
    """Make the environment, and tell the later steps where it is, what seals it, and which interpreter measures."""
    folder = Path(tempfile.mkdtemp(prefix="torchscan-action.", dir=Path.cwd()))
    environment = pip_environment(os.environ)
    pip = make_environment(folder / "venv")
    install(pip, python_of(folder / "venv"), action, environment)
    check = (action / "ci_action" / "seal.py").read_text(encoding="utf-8")
    sealed = _run([sys.executable, "-I", "-S", "-c", check, str(folder / "venv")], environment).stdout.strip()
    # Measured code can rewrite the virtual environment that it runs in: the seal is compared by the one behind that.
    base: str = getattr(sys, "_base_executable", "") or sys.executable
    outputs = {"folder": str(folder), "python": sys.executable, "seal": sealed, "seal-check": check}
    outputs["seal-python"] = os.path.realpath(base)
    outputs |= {name: os.environ.get(f"TORCHSCAN_{name.upper().replace('-', '_')}", "") for name in LIBRARIES}
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        for name, value in outputs.items():
            delimiter = secrets.token_hex(16)
            file.write(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def make_environment(folder: Path) -> list[str]:
    """Make an empty virtual environment and return the command of a pip that installs into it.

    The host's own pip can do that from 22.3 on; a copy of its own would take seconds.
    """
    has_pip = _host_pip() >= MIN_PIP
    venv.create(folder, with_pip=not has_pip, symlinks=os.name != "nt")
    python = str(python_of(folder))
    return [sys.executable, "-I", "-m", "pip", "--python", python] if has_pip else [python, "-I", "-m", "pip"]


def python_of(folder: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pip_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of pip: of its own settings only those that say where wheels come from.

    They are asked of pip itself, because they may stand in a file as well; no file is read after that.
    """
    told = {name: environ[name] for name in (TOLD,) if name in environ}
    plain = {name: value for name, value in environ.items() if not name.upper().startswith(FOREIGN)}
    listed = _run([sys.executable, "-I", "-m", "pip", "config", "list"], {**plain, **told})
    kept = {f"PIP_{name.upper()}": value for name, value in sources(listed.stdout)}
    kept |= {name: value for name, value in environ.items() if name.lower().removeprefix("pip_") in SOURCES}
    return {**plain, **kept, TOLD: os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def sources(listed: str) -> Iterator[tuple[str, str]]:
    """Read what ``pip config list`` prints, ``section.name='value'`` a line, as far as it is one of SOURCES."""
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        name = option.replace("-", "_").lower()
        if section in {"global", "install"} and name in SOURCES:
            yield name, " ".join(str(ast.literal_eval(value)).split())


def install(pip: list[str], python: Path, action: Path, environment: Mapping[str, str]) -> None:
    """Install the pinned wheels, then our own package, and compile all of it. Raises SetUpError.

    The later steps write no bytecode, so that no file of the environment changes after it was sealed.
    """
    requirements = str(action / "ci_action" / "requirements.txt")
    quiet = [*pip, "install", "--quiet"]
    _checked([*quiet, "--no-compile", "--require-hashes", "--requirement", requirements], environment)
    packages = next((python.parents[1] / "lib").glob("python3*/site-packages"), python.parents[1] / "Lib/site-packages")
    used = [str(path) for path in packages.iterdir() if path.is_dir() and path.name not in UNUSED]
    with subprocess.Popen([str(python), "-I", "-m", "compileall", "-q", *used], env=dict(environment)):
        # Our own package has no hash to require, so it comes alone: its dependencies are the pinned ones.
        _checked([*quiet, "--no-deps", "--no-build-isolation", "--no-index", str(action)], environment)


def _checked(words: list[str], environment: Mapping[str, str]) -> None:
    done = _run(words, environment)
    if done.returncode:
        print(*(f"pip: {line}" for line in done.stderr.replace("##[", "## [").splitlines()), sep="\n")
        raise SetUpError(
            f"pip ended with {done.returncode} when it filled the action's own environment: its words stand above. "
            "Check that the job reaches its package index"
        )


def _host_pip() -> tuple[int, ...]:
    try:
        numbers = version("pip").split(".")[:2]
    except PackageNotFoundError:
        return (0, 0)
    return tuple(int(number) for number in numbers if number.isdecimal())


def _run(words: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=dict(environment), capture_output=True, text=True, errors="replace", check=False)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except (SetUpError, OSError, subprocess.SubprocessError) as error:
        print(f"::error title=TorchScan::{' '.join(str(error).split())}")
        sys.exit(3)
