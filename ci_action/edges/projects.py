"""The projects of a repository by their files, and the folders that they keep their code in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ci_action.core.config.layouts import CodeFolder, code_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
DEEPEST = 4
"""Folders below the top in which a project is looked for."""
MOST_FOLDERS = 2000
SKIPPED = frozenset({"tests", "test", "node_modules", "build", "dist", "venv", "site-packages", "docs"})
OTHERS = frozenset({"examples", "example", "third_party", "3rdparty", "vendor", "external", "benchmarks", "templates"})
"""Folders whose projects are not what a repository is about."""


def projects(root: Path) -> Iterator[str]:
    """Yield the folders that hold a project, the top first."""
    for seen, (folder, folders, files) in enumerate(os.walk(root)):
        inner = os.path.relpath(folder, root)
        depth = 0 if inner == "." else inner.count(os.sep) + 1
        named = {name for name in folders if name not in SKIPPED | OTHERS and not name.startswith((".", "_"))}
        folders[:] = sorted(named) if depth < DEEPEST and seen < MOST_FOLDERS else []
        if not set(PROJECT_FILES).isdisjoint(files):
            yield inner.replace(os.sep, "/")


def installed_folders(root: Path, read: Callable[[Path], str | None]) -> list[CodeFolder]:
    """List the folders that hold packages to import, from every project's own words; those that exist.

    A project below the top that says nothing keeps its code in its ``src``, else beside its file.
    """
    found: dict[str, CodeFolder] = {}
    for place in projects(root):
        said = code_folders(place, {name: read(root / place / name) for name in PROJECT_FILES})
        if not said and place != ".":
            usual = f"{place}/src" if (root / place / "src").is_dir() else place
            said = [CodeFolder(path=usual, because=f"the project in {place}")]
        for folder in said:
            if _holds_code(root / folder.path) and (root / folder.path).resolve().is_relative_to(root.resolve()):
                found.setdefault(folder.path, folder)
    return list(found.values())


def _holds_code(folder: Path) -> bool:
    """Check whether something can be imported from a folder: a module, or a folder that holds one."""
    modules = (path for pattern in ("*.py", "*/*.py", "*/*/*.py") for path in folder.glob(pattern))
    return any(path.name not in {"setup.py", "conftest.py", "noxfile.py"} for path in modules)
