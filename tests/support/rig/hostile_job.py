"""A checkout and a job's variables that try to get their own code into every program which is started beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

MODULES = (
    *("abc", "ast", "argparse", "click", "codecs", "collections", "compileall", "encodings", "ensurepip", "enum"),
    *("hashlib", "importlib", "jinja2", "json", "logging", "os", "pathlib", "pip", "psutil", "re", "requests", "runpy"),
    *("secrets", "shutil", "signal", "sitecustomize", "site", "stat", "subprocess", "sysconfig", "tempfile", "types"),
    *("usercustomize", "venv", "warnings", "zipimport", "_distutils_hack", "tomllib", "hatchling", "jsonschema"),
)
"""What ``python -c`` and ``-m`` of pip, venv, ensurepip and of our own program import by name."""
PROGRAMS = (
    *("git", "git-lfs", "ssh", "bash", "sh", "env", "mktemp", "cat", "dirname", "sha256sum"),
    *("uname", "lsb_release", "rustc"),  # what pip asks for its user agent
)

_PAYLOAD = """
import posix as _posix
_found = _posix.open(b"/proc/self/cmdline", _posix.O_RDONLY)
_line = _posix.read(_found, 4096).replace(b"\\0", b" ")
_left = _posix.open(b"@SENTINELS@/@NAME@", _posix.O_CREAT | _posix.O_WRONLY | _posix.O_APPEND, 0o666)
_posix.write(_left, _posix.environ.get(b"TORCHSCAN_TOKEN", b"-") + b" " + _line + b"\\n")
"""
_SHELL = """#!/bin/sh
echo "${TORCHSCAN_TOKEN:--} $0 $*" >> "@SENTINELS@/@NAME@"
"""


def hostile_files(sentinels: Path) -> dict[str, str]:
    """Return the files of the checkout: modules at its root and in every folder that a variable can name."""
    files: dict[str, str] = {}
    for name in MODULES:
        payload = _filled(_PAYLOAD, sentinels, name)
        files |= {f"{name}.py": payload, f"src/{name}.py": payload}
        files[f"evil/lib/python3.11/site-packages/{name}.py"] = payload
    for name in ("pip", "venv", "encodings", "ci_action", "torchscan", "ensurepip"):
        payload = _filled(_PAYLOAD, sentinels, f"package-{name}")
        files |= {f"src/{name}/__init__.py": payload, f"src/{name}/__main__.py": payload}
    files |= {f"bin/{name}": _filled(_SHELL, sentinels, f"program-{name}") for name in PROGRAMS}
    files["evil/git-core/git-rev-parse"] = _filled(_SHELL, sentinels, "git-exec-path")
    files["evil/bash.sh"] = _filled(_SHELL, sentinels, "bash-env")
    files["evil/startup.py"] = _filled(_PAYLOAD, sentinels, "startup")
    # A library that is no library ends whatever loads it: Python and git need these, and bash does not.
    files |= {f"lib/{name}": "no library\n" for name in ("libm.so.6", "libz.so.1", "libffi.so.8", "evil.so")}
    files["evil/pip.conf"] = "[global]\nuser = true\ntarget = /nowhere\nno-deps = true\nrequire-virtualenv = true\n"
    files["evil/constraints.txt"] = "click==1.0\nrequests==1.0\n"
    files["evil/openssl.cnf"] = "openssl_conf = evil\n[evil]\nengines = evil\n[evil]\ndynamic_path = evil.so\n"
    return files


def hostile_variables(workspace: Path) -> dict[str, str]:
    """Return variables that a workflow can set for a job, with paths into its checkout."""
    evil = workspace / "evil"
    python = {
        "PYTHONPATH": f"{workspace}/src:{workspace}:.",
        "PYTHONHOME": str(evil),
        "PYTHONINSPECT": "1",
        "PYTHONSTARTUP": str(evil / "startup.py"),
        "PYTHONUSERBASE": str(evil),
        "PYTHONPLATLIBDIR": "evil",
        "PYTHONPYCACHEPREFIX": str(evil / "cache"),
        "PYTHONWARNINGS": "error",
        "PYTHONBREAKPOINT": "evil.breakpoint",
        "PYTHONVERBOSE": "1",
        "PYTHONOPTIMIZE": "2",
    }
    pip = {
        "PIP_USER": "1",
        "PIP_TARGET": str(evil / "target"),
        "PIP_PREFIX": str(evil / "prefix"),
        "PIP_ROOT": str(evil / "root"),
        "PIP_CONSTRAINT": str(evil / "constraints.txt"),
        "PIP_REQUIREMENT": str(evil / "constraints.txt"),
        "PIP_REQUIRE_VIRTUALENV": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BINARY": ":all:",
        "PIP_PYTHON": str(evil / "python"),
        "PIP_CONFIG_FILE": str(evil / "pip.conf"),
        "PIP_EDITABLE": str(evil),
        "PIP_DRY_RUN": "1",
    }
    loader = {
        "BASH_ENV": str(evil / "bash.sh"),
        "ENV": str(evil / "bash.sh"),
        "LD_PRELOAD": str(workspace / "lib" / "evil.so"),
        "LD_AUDIT": str(workspace / "lib" / "evil.so"),
        "OPENSSL_CONF": str(evil / "openssl.cnf"),
        "CDPATH": str(evil),
        "SHELLOPTS": "noexec",
        "BASH_FUNC_cd%%": f"() {{ {workspace}/bin/git from-a-function; }}",
        "BASH_FUNC_exec%%": f"() {{ {workspace}/bin/git from-a-function; }}",
        "PS4": f"$({workspace}/bin/git from-a-prompt)",
    }
    git = {
        "GIT_EXEC_PATH": str(evil / "git-core"),
        "GIT_DIR": str(evil),
        "GIT_WORK_TREE": str(evil),
        "GIT_TEMPLATE_DIR": str(evil),
        "GIT_EXTERNAL_DIFF": str(workspace / "bin" / "git"),
        "GIT_TRACE": "1",
    }
    return {**python, **pip, **loader, **git}


def hostile_libraries(workspace: Path) -> dict[str, str]:
    """Return the way of the dynamic loader into the checkout. The workers are meant to go it: it is the job's own."""
    return {"LD_LIBRARY_PATH": f"lib:{workspace}/lib::{workspace}/../{workspace.name}/lib"}


def left_by_ours(sentinels: Path) -> dict[str, list[str]]:
    """Return what payloads left by name, except in the workers: those are there to run the checkout's code."""
    return {
        path.name: lines
        for path in sorted(sentinels.iterdir())
        if (lines := [line for line in path.read_text().splitlines() if "ci_action.worker" not in line])
    }


def _filled(template: str, sentinels: Path, name: str) -> str:
    return template.replace("@SENTINELS@", str(sentinels)).replace("@NAME@", name)


def made_executable(workspace: Path) -> None:
    """Set the mode that git keeps for the programs."""
    for path in _programs(workspace):
        path.chmod(0o755)


def _programs(workspace: Path) -> Iterator[Path]:
    yield from (workspace / "bin").iterdir()
    yield from (workspace / "evil" / "git-core").iterdir()


Files = Mapping[str, str]
