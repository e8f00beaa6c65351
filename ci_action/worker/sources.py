"""Where a repository keeps what Python can import: its code files by name, found by one walk per process."""

from __future__ import annotations

import os
import re
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path

from ci_action.worker.installed import normalized

PRUNED = frozenset({"node_modules", "site-packages", "dist-packages", "build", "dist", "__pycache__"})
MOST_WITHOUT_CODE = 2000
"""Entries after which a folder that showed neither code nor folders is taken for data."""
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_CFG_NAME = re.compile(r"^\s*name\s*=\s*(\S+)\s*$", re.MULTILINE)


@cache
def code_files(folder: str) -> dict[str, tuple[str, ...]]:
    """Return the paths of all Python files below a folder by their file names, environments left out."""
    found: dict[str, list[str]] = {}
    waiting = [("", folder)]
    while waiting:
        inner, place = waiting.pop()
        names, folders = _listed(place)
        if "pyvenv.cfg" in names or any(name.endswith(".dist-info") for name in folders):
            continue  # an environment inside the checkout is nobody's source
        for name in names:
            if name.endswith(".py"):
                found.setdefault(name, []).append(f"{inner}{name}")
        waiting += [
            (f"{inner}{name}/", os.path.join(place, name))  # noqa: PTH118 # for every folder
            for name in folders
            if name not in PRUNED and not name.startswith(".") and not name.endswith((".egg-info", ".egg"))
        ]
    return {name: tuple(sorted(paths)) for name, paths in found.items()}


def places(folder: str, inner: str) -> list[str]:
    """Return the folders below ``folder`` from which ``inner`` (``mypkg/net.py``) could be imported; "" is itself."""
    paths = code_files(folder).get(inner.rpartition("/")[2], ())
    return [path[: -len(inner)] for path in paths if f"/{path}".endswith(f"/{inner}")]


def project_names(folder: str, place: str) -> set[str]:
    """Return the names of the projects that a place belongs to: its own, and those of the folders above it."""
    found = set()
    path = Path(folder, place)
    for parent in (path, *path.parents):
        found |= _names(parent)
        if parent == Path(folder):
            break
    return found


def same_text(one: bytes | None, other: bytes | None) -> bool:
    """Check whether two files are equal. Line endings are the checkout's own business."""
    if one is None or other is None:
        return False
    return one == other or one.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def read(path: Path) -> bytes | None:
    """Return a file's bytes; None where there is no such file."""
    with suppress(OSError):
        return path.read_bytes()
    return None


def differs(own: Path, other: Path, *, counts_added: bool) -> bool:
    """Check whether a package differs from another state of it: in a file of its own, or in one that was added."""
    mine, theirs = _members(own), _members(other)
    if counts_added and theirs - mine:
        return True
    return any(name not in theirs or _is_other(read(own / name), read(other / name)) for name in mine)


def _is_other(own: bytes | None, other: bytes | None) -> bool:
    """Check whether two files differ. A pointer of git-lfs that only one side has replaced says nothing."""
    return not same_text(own, other) and not any((text or b"").startswith(_LFS_POINTER) for text in (own, other))


def _members(folder: Path) -> set[str]:
    """Return the files of a package by their paths, or "" for a module that is one file."""
    if folder.is_file():
        return {""}
    found = set()
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        inner = Path(place).relative_to(folder)
        found |= {(inner / name).as_posix() for name in names if not name.endswith(".pyc")}
    return found


def _listed(place: str) -> tuple[set[str], set[str]]:
    names: set[str] = set()
    folders: set[str] = set()
    has_code = False
    with suppress(OSError), os.scandir(place) as entries:
        for number, entry in enumerate(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.add(entry.name)
            else:
                names.add(entry.name)
                has_code = has_code or entry.name.endswith(".py")
            if number >= MOST_WITHOUT_CODE and not has_code and not folders:
                break
    return names, folders


def _names(folder: Path) -> set[str]:
    found = set()
    with suppress(OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        parsed = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        tool = parsed.get("tool", {})
        for table in (parsed.get("project"), tool.get("poetry") if isinstance(tool, dict) else None):
            if isinstance(table, dict) and isinstance(table.get("name"), str):
                found.add(normalized(table["name"]))
    with suppress(OSError, UnicodeDecodeError):
        said = _CFG_NAME.search((folder / "setup.cfg").read_text(encoding="utf-8"))
        found |= {normalized(said[1])} if said else set()
    return found
