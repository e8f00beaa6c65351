"""Where a project keeps the code that it installs, as its build backend is told. Nothing of the project runs."""

from __future__ import annotations

import ast
import tomllib
from configparser import ConfigParser, Error
from dataclasses import dataclass
from posixpath import dirname, isabs, join, normpath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFolder:
    """A folder that packages are imported from, and which words of which file say so."""

    path: str
    because: str


def code_folders(place: str, texts: Mapping[str, str | None]) -> list[CodeFolder]:
    """List the folders of one project from the texts of its pyproject.toml, setup.cfg and setup.py.

    ``place`` is the project's folder. Paths are from the repository's root; what leads out of it is left out.
    """
    found = []
    for file, read in (("pyproject.toml", _pyproject), ("setup.cfg", _setup_cfg), ("setup.py", _setup_py)):
        for said, folder in read(texts.get(file) or ""):
            path = normpath(join(place, folder or "."))
            if not (isabs(path) or path.startswith("..")):
                found.append(CodeFolder(path=path, because=f"{said} in {normpath(join(place, file))}"))
    return list({folder.path: folder for folder in reversed(found)}.values())[::-1]


def _pyproject(text: str) -> Iterator[tuple[str, str]]:
    try:
        tools = _at(tomllib.loads(text), "tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    yield from _named_folders(tools)
    yield from _named_packages(tools)


def _named_folders(tools: Any) -> Iterator[tuple[str, str]]:
    for path in _FOLDERS:
        yield from ((".".join(path), folder) for folder in _texts(_at(tools, *path)))
    listed = _at(tools, "poetry", "packages")
    for entry in listed if isinstance(listed, list) else ():
        yield from (("poetry.packages", folder) for folder in _texts(_at(entry, "from")))
    for folder, target in _items(_at(tools, "hatch", "build", "targets", "wheel", "sources")):
        if not target:
            yield "hatch.build.targets.wheel.sources", folder


def _named_packages(tools: Any) -> Iterator[tuple[str, str]]:
    for path in _PACKAGES:
        packages = _at(tools, *path)
        yield from ((".".join(path), dirname(package.rstrip("/"))) for package in _texts(packages))
        for name, package in _items(packages):
            yield from ((".".join(path), folder) for folder in _package_folder(name, package))
    for name, package in _items(_at(tools, "setuptools", "package-dir")):
        yield from (("setuptools.package-dir", folder) for folder in _package_folder(name, package))


_FOLDERS = (
    ("maturin", "python-source"),
    ("setuptools", "packages", "find", "where"),
    ("hatch", "build", "targets", "wheel", "sources"),
    ("hatch", "build", "sources"),
    ("pdm", "build", "package-dir"),
    ("pdm", "package-dir"),
    ("uv", "build-backend", "module-root"),
)
"""Keys below ``tool`` that name a folder, or several."""
_PACKAGES = (
    ("hatch", "build", "targets", "wheel", "packages"),
    ("hatch", "build", "packages"),
    ("scikit-build", "wheel", "packages"),
)
"""Keys below ``tool`` that name packages with their folders."""


def _setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except Error:
        return
    for folder in parser.get("options.packages.find", "where", fallback="").split():
        yield "options.packages.find", folder
    for line in parser.get("options", "package_dir", fallback="").replace(",", "\n").splitlines():
        package, equals, folder = (part.strip() for part in line.partition("="))
        if equals:
            yield from (("options.package_dir", found) for found in _package_folder(package, folder))


def _setup_py(text: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given = {word.arg: word.value for word in node.keywords}
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in {"find_packages", "find_namespace_packages"}:
            where = node.args[0] if node.args else given.get("where")
            if isinstance(where, ast.Constant) and isinstance(where.value, str):
                yield called, where.value
        if called == "setup" and isinstance(given.get("package_dir"), ast.Dict):
            for package, folder in _items(_literal(given["package_dir"])):
                yield from (("package_dir", found) for found in _package_folder(package, folder))


def _package_folder(package: str, folder: str) -> Iterator[str]:
    """Yield where to import a package from that a table maps to its folder; nothing where its folder is renamed."""
    if not package:
        yield folder
    elif _ends_with(folder, package):
        yield normpath(folder)[: -len(package) - 1] or "."


def _ends_with(folder: str, package: str) -> bool:
    path, inner = normpath(folder), package.replace(".", "/")
    return path == inner or path.endswith(f"/{inner}")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _items(table: Any) -> list[tuple[str, str]]:
    found = table.items() if isinstance(table, dict) else ()
    return [(key, value) for key, value in found if isinstance(key, str) and isinstance(value, str)]


def _texts(value: Any) -> list[str]:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [item for item in listed if isinstance(item, str)]


def _at(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table
