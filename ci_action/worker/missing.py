"""Why an import found nothing: a file that no commit holds (git ignores it, an install makes it), or a folder."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.machinery import all_suffixes
from pathlib import Path

from ci_action.core.spec import WorkerSpec
from ci_action.worker.loaded import as_prefix
from ci_action.worker.sources import places

LONGEST_CHAIN = 20
_UNKNOWN_NAME = re.compile(r"cannot import name '(\w+)' from ")
_GENERATED = (
    "which is no part of the commit: git ignores it, or an install generates it; "
    'set environment = "separate" and an install command, so that each side makes its own'
)


def place_in_checkout(spec: WorkerSpec) -> Path:
    """Return the folder of the checkout that a side's ``root`` was made from."""
    root, worktree = Path(spec["root"]).resolve(), Path(spec["worktree"]).resolve()
    inner = root.relative_to(worktree) if root.is_relative_to(worktree) else ""
    return Path(spec["checkout"]).resolve() / inner


def explain_missing(error: BaseException, root: Path, checkout: Path) -> str:
    """Return where a module lies that an import did not find in this commit, and what to set; empty if nowhere.

    Looked for is the module of the first failed import behind ``error``, which may be an error of its own.
    """
    for name in _missing(error):
        inner = name.replace(".", "/")
        if _file(root, inner):
            continue
        top = name.partition(".")[0]
        folder = next(iter(_folders(root, inner)), None)
        if folder is not None:
            return f"{name} is missing, and this commit has it in {folder!r}: add that folder to import-paths"
        for place in ("", *_folders(checkout, top), *_folders(checkout, inner)):
            found = _file(checkout / place, inner)
            if found and not (root / found.relative_to(checkout)).exists():
                return f"{name} is missing. The checkout has {found.relative_to(checkout).as_posix()}, {_GENERATED}"
        for entry in map(Path, sys.path):
            found = _file(entry, inner)
            if found and not entry.resolve().is_relative_to(root):
                shown = f"{entry.name}/{found.relative_to(entry).as_posix()}"
                return f"{name} is missing. {shown} is installed, {_GENERATED}"
    return ""


def _missing(error: BaseException) -> Iterator[str]:
    """Yield the dotted names that failed imports wanted, along the chain of errors."""
    link: BaseException | None = error
    for _ in range(LONGEST_CHAIN):
        if link is None:
            return
        if isinstance(link, ImportError) and link.name:
            wanted = _UNKNOWN_NAME.match(str(link.msg))
            yield f"{link.name}.{wanted[1]}" if wanted else link.name
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _folders(top: Path, inner: str) -> list[str]:
    """Return the folders below ``top`` from which a module or a package could be imported."""
    prefix = as_prefix(top)
    found = [*places(prefix, f"{inner}/__init__.py"), *places(prefix, f"{inner}.py")]
    return [place.rstrip("/") for place in found if place]


def _file(folder: Path, inner: str) -> Path | None:
    """Return the file of a module in a folder: source, package, or compiled for any interpreter."""
    whole = [folder / f"{inner}.py", folder / inner / "__init__.py"]
    whole += [folder / f"{inner}{suffix}" for suffix in all_suffixes()]
    place, _, name = (folder / inner).as_posix().rpartition("/")
    compiled = [path for path in sorted(Path(place).glob(f"{name}.*")) if path.suffix in {".so", ".pyd"}]
    return next((path for path in [*whole, *compiled] if path.is_file()), None)
