"""Did this side run its own code? An editable install of the checkout would quietly give base the code of head."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

OURS = frozenset({"torchscan", "ci_action"})


def foreign_modules(root: Path, worktree: Path, checkout: Path, import_paths: Iterable[str]) -> list[str]:
    """One sentence for each loaded module that is not this side's own although it should be.

    That is a module from the checkout which the worktree was made from, or one that stands in for a module that the
    worktree has in an import path. The interpreter's own folders may lie in the checkout (a .venv) and are no fault.
    """
    own, workspace = _as_prefix(worktree), _as_prefix(checkout)
    environment = _environment_folders(workspace)
    roots = [root / path for path in import_paths]
    found = []
    for name, file in sorted(_loaded_files()):
        top = name.partition(".")[0]
        if file.startswith(own) or top in OURS:
            continue
        if file.startswith(workspace) and not file.startswith(environment):
            shown = Path(file.removeprefix(workspace)).as_posix()
            told = f"imported {name} from {shown} of the checkout, not from its own commit"
            found.append(f"{told}: {_advice(name, shown, root, worktree, roots)}")
        elif name == top and top not in sys.stdlib_module_names and _has_module(roots, top):
            told = f"imported {name} from outside its own commit, which has a module of that name"
            found.append(f"{told}: rename it, or uninstall the other")
    return found


def _loaded_files() -> Iterable[tuple[str, str]]:
    """Name and real path of every loaded module. Folders are resolved once: torch alone has 2,000 modules."""
    folders: dict[str, str] = {}
    program = sys.modules.get("__main__")
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or name == "__main__" or module is program:  # __mp_main__
            continue
        folder, base = os.path.split(file)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], base)  # noqa: PTH118 # a Path costs ten times as much here
        yield name, os.path.realpath(real) if os.path.islink(real) else real  # noqa: PTH114 # likewise


def _advice(name: str, file: str, root: Path, worktree: Path, roots: Iterable[Path]) -> str:
    """What the owner can set: the folder to import from, where this commit has the file as well."""
    path = PurePosixPath(file)
    depth = len(name.split(".")) + (path.stem == "__init__")
    folder = worktree.resolve().joinpath(*path.parts[:-depth])
    is_reachable = (worktree / path).is_file() and folder.is_relative_to(root)
    if is_reachable and folder not in roots:
        return f"add {folder.relative_to(root).as_posix()!r} to import-paths"
    return 'set environment = "separate" and an install command, so that each side has its own'


def _environment_folders(workspace: str) -> tuple[str, ...]:
    named = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *site.getsitepackages()]
    folders = {_as_prefix(folder) for folder in [*named, site.getusersitepackages()] if folder}
    # A prefix that holds the whole checkout excuses nothing in it.
    return tuple(folder for folder in folders if not workspace.startswith(folder))


def _as_prefix(folder: str | Path) -> str:
    return os.path.join(os.path.realpath(folder), "")  # noqa: PTH118 # the trailing separator is the point


def _has_module(roots: Iterable[Path], name: str) -> bool:
    return any((root / name / "__init__.py").is_file() or (root / f"{name}.py").is_file() for root in roots)
