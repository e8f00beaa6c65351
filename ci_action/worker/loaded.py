"""The files behind this process: of its modules, wherever a finder took them from, and of its shared libraries."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

MAPS = Path("/proc/self/maps")
COMPILED = (".so", ".pyd", ".dylib", ".dll")
SITE_NAMES = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """One file that was loaded. ``path`` follows all links; ``inner`` is where it lies in ``folder``, as imported."""

    name: str
    path: str
    folder: str
    inner: str

    @property
    def is_compiled(self) -> bool:
        """Whether nobody can say by its bytes which sources it was made from."""
        return self.path.endswith(COMPILED)

    @property
    def is_standard(self) -> bool:
        """Check whether it belongs to the standard library, which may hold ``site-packages``."""
        return self.path.startswith(_STANDARD) and not any(f"/{part}/" in self.path for part in SITE_NAMES)

    @property
    def top(self) -> str:
        """The name that was installed: of a package, or of a module that stands alone."""
        return self.inner.split("/", 1)[0]

    def read(self) -> bytes | None:
        """Return its bytes, also out of a zip file; None where they cannot be had."""
        with suppress(OSError):
            return Path(self.path).read_bytes()
        loader: Any = getattr(getattr(sys.modules.get(self.name), "__spec__", None), "loader", None)
        try:
            found = loader.get_data(self.path)
        except Exception:  # noqa: BLE001 # the loader may be anybody's
            return None
        return found if isinstance(found, bytes) else None


def loaded_files(skipped: str) -> list[LoadedFile]:
    """List what is loaded, but for the standard library and what lies below ``skipped``.

    Folders are resolved once and files are looked at once per process: torch alone has 2,000 modules.
    """
    entries = sorted({as_prefix(entry or ".") for entry in sys.path}, key=len, reverse=True)
    folders: dict[str, tuple[str, str]] = {}
    for name, file in [*_module_files(), *_libraries()]:
        if (name, file) in _SEEN:
            continue
        folder, base = os.path.split(file)
        if folder not in folders:
            real = as_prefix(folder)
            folders[folder] = real, next((entry for entry in entries if real.startswith(entry)), "")
        real, origin = folders[folder]
        path = real + base
        origin = origin or _origin(name, path)
        inner = path.removeprefix(origin).replace(os.sep, "/")
        if os.path.islink(path):  # noqa: PTH114 # a Path costs ten times as much
            path = os.path.realpath(path)
        _SEEN[name, file] = LoadedFile(name, path, origin, inner.removesuffix("c") if inner[-4:] == ".pyc" else inner)
    unique = {found.path: found for found in _SEEN.values()}
    return [found for found in unique.values() if not (found.path.startswith(skipped) or found.is_standard)]


_SEEN: dict[tuple[str, str], LoadedFile] = {}
"""What this process has loaded so far, by the module's name and the file that it names."""


def as_prefix(folder: str | Path) -> str:
    """Return a folder's real path with a separator at its end, as a prefix of what lies below it."""
    return os.path.join(os.path.realpath(folder), "")  # noqa: PTH118 # the trailing separator is the point


_STANDARD = tuple(as_prefix(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


def _module_files() -> Iterator[tuple[str, str]]:
    program = sys.modules.get("__main__")
    for name, module in list(sys.modules.items()):
        if name != "__main__" and module is not program:  # __mp_main__
            file = _file_of(module)
            if file:
                yield name, file


def _file_of(module: ModuleType) -> str | None:
    """Return where a module says that it is from. What is no path (``built-in``, ``<string>``) has no file."""
    spec: Any = getattr(module, "__spec__", None)
    said = (getattr(module, "__file__", None), getattr(spec, "origin", None))
    for file in (*said, getattr(getattr(spec, "loader", None), "path", None)):
        if isinstance(file, str) and "\0" not in file and os.path.sep in file and not file.startswith("<"):
            return file
    return None


def _libraries() -> Iterator[tuple[str, str]]:
    """Yield shared libraries that no module stands for, such as those of ``torch.ops.load_library``. Linux tells."""
    lines: list[str] = []
    with suppress(OSError, UnicodeDecodeError):
        lines = MAPS.read_text(encoding="utf-8").splitlines()
    for file in {line.split(None, 5)[-1] for line in lines if ".so" in line}:
        if file.startswith("/") and not file.endswith("(deleted)"):
            yield file.rpartition("/")[2], file


def _origin(name: str, file: str) -> str:
    """Return the folder that a module's dotted name counts from, where ``sys.path`` does not know it (any more)."""
    path = Path(file)
    depth = name.count(".") + 1 + (path.stem == "__init__")
    return as_prefix(path.parents[min(depth, len(path.parents)) - 1])
