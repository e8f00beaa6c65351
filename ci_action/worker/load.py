"""From the config's words to the owner's callable: ``path/to/file.py:name`` or ``package.module:name``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Factory = Callable[[], Any]


class FactoryError(Exception):
    """The factory cannot be found, or what it returned cannot be analysed: what, where, what is accepted."""


def prepend_import_paths(root: Path, import_paths: list[str]) -> None:
    """Put the folders of this side that exist first on ``sys.path``, in the order given."""
    inside = [within(root, path) for path in import_paths if (root / path).is_dir()]
    sys.path[:0] = [str(path) for path in inside]


def load_factory(reference: str, root: Path) -> Factory:
    """Import what ``reference`` names. Raises FactoryError for a wrong name; errors of the code itself propagate."""
    place, colon, name = reference.partition(":")
    if not (place and colon and name):
        raise FactoryError(f"factory {reference!r} must read 'path/to/file.py:name' or 'package.module:name'")
    found: Any = _file(place, root) if place.endswith(".py") else _module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            raise FactoryError(f"factory {reference!r}: {place} has no {name!r}{_near(found, part)}")
        found = getattr(found, part)
    if not callable(found):
        raise FactoryError(f"factory {reference!r} is of type {type(found).__name__}: a callable is needed")
    return found  # type: ignore[no-any-return] # callable() narrows to a callable of anything


def within(root: Path, path: str) -> Path:
    """A path of this side after all symbolic links. Raises FactoryError if it leads out of ``root``."""
    resolved = (root / path).resolve()
    if not resolved.is_relative_to(root.resolve()):
        raise FactoryError(f"{path!r} leads out of the repository's folder: only paths below it are accepted")
    return resolved


def _file(place: str, root: Path) -> ModuleType:
    path = within(root, place)
    if not path.is_file():
        raise FactoryError(f"there is no file {place!r} in this commit")
    name = _dotted(path) or f"torchscan_factory.{path.relative_to(root.resolve()).as_posix()}"
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == str(path):
        return sys.modules[name]
    if not name.startswith("torchscan_factory."):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FactoryError(f"{place!r} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look the module up by name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _dotted(path: Path) -> str | None:
    """The importable name of a file inside a package, so that its relative imports work; None for a plain script."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if len(parts) < 2 or str(folder) not in sys.path:
        return None
    return ".".join(parts)


def _module(place: str) -> ModuleType:
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name and (place == error.name or place.startswith(f"{error.name}.")):
            raise FactoryError(
                f"there is no module {place!r}: give a path like 'bench/models.py', or list its folder in import-paths"
            ) from error
        raise


def _near(found: object, name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, [word for word in dir(found) if not word.startswith("_")], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
