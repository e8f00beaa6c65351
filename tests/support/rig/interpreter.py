"""A user's interpreter: pip, torch and what torch itself asks for, and nothing of ours."""

from __future__ import annotations

import re
import sys
import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path


def torch_only_interpreter(folder: Path) -> Path:
    """Make a virtual environment in 0.1 s whose packages are links to this interpreter's torch and its needs."""
    venv.create(folder, with_pip=False, symlinks=True)
    library = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    # By name, because packages share folders: each of torch's CUDA packages has its part of ``nvidia``.
    found = {
        name: Path(str(package.locate_file(name)))
        for package in _needs("torch", "pip").values()
        for name in _top_level(package)
    }
    for name, path in found.items():
        (library / name).symlink_to(path)
    return folder / "bin" / "python"


def _needs(*roots: str) -> dict[str, Distribution]:
    found: dict[str, Distribution] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # asked for on another platform only
        required = (line for line in found[name].requires or () if "extra ==" not in line)
        waiting += [re.split(r"[\s;<>=!~\[(]", line, maxsplit=1)[0].lower() for line in required]
    return found


def _top_level(package: Distribution) -> set[str]:
    tops = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
    return {name for name in tops if Path(str(package.locate_file(name))).exists()}
