"""Which changed files say what is installed. Both sides of a shared environment run with one answer to that."""

from __future__ import annotations

import tomllib
from configparser import ConfigParser, Error
from fnmatch import fnmatchcase
from posixpath import basename
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_NAMES = (
    *("requirements*.txt", "*requirements.txt", "requirements*.in", "constraints*.txt", "constraints*.in"),
    *("setup.py", "pipfile", "pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "pylock.*.toml"),
    *("environment*.yml", "environment*.yaml", "*conda-lock.yml", "*conda-lock.yaml", "pixi.toml", "pixi.lock"),
    *("dockerfile", "dockerfile.*", "*.dockerfile", "containerfile", "conanfile.*", ".python-version"),
    ".tool-versions",
)
"""Names of files that have no other purpose, in lower case."""
_FOLDERS = ("requirements/*.txt", "*/requirements/*.txt", "requirements/*.in", "*/requirements/*.in")
_ELSEWHERE = ("docs/", "doc/")
"""What documentation is built with has no part in a measurement."""
_PROJECT = ("dependencies", "optional-dependencies", "requires-python")
_TOOLS: Mapping[str, tuple[str, ...] | None] = {
    "poetry": ("dependencies", "dev-dependencies", "group", "source", "extras", "build"),
    "pdm": ("dev-dependencies", "source", "resolution", "overrides"),
    "hatch": ("envs",),
    "uv": None,
    "pixi": None,
    "conda-lock": None,
}
"""The keys that say what is installed, by tool; None where all of them do."""


def dependency_files(paths: Iterable[str], texts: Callable[[str], tuple[str | None, str | None]]) -> tuple[str, ...]:
    """Return those of the changed paths that change what is installed. ``texts`` reads a path on base and on head.

    pyproject.toml and setup.cfg configure many tools, so they count only where what they say of dependencies changed.
    """
    found = []
    for path in sorted(set(paths)):
        reads = _MIXED.get(basename(path))
        if path.startswith(_ELSEWHERE) or not (reads or _is_dependency_file(path)):
            continue
        if reads is None or _differ(*map(reads, texts(path))):
            found.append(path)
    return tuple(found)


def _is_dependency_file(path: str) -> bool:
    name = basename(path).lower()
    return any(fnmatchcase(name, known) for known in _NAMES) or any(fnmatchcase(path, known) for known in _FOLDERS)


def _differ(base: Any, head: Any) -> bool:
    """Check whether two states differ. One that cannot be read may be anything."""
    return base is None or head is None or base != head


def _pyproject(text: str | None) -> dict[str, Any] | None:
    """Return what a pyproject.toml says of dependencies; None where it cannot be read."""
    try:
        parsed = tomllib.loads(text or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    tools = _table(parsed, "tool")
    project = _table(parsed, "project")
    return {
        "build-system": parsed.get("build-system"),
        "dependency-groups": parsed.get("dependency-groups"),
        **{key: project.get(key) for key in _PROJECT},
        **{
            name: tools.get(name) if keys is None else {key: _table(tools, name).get(key) for key in keys}
            for name, keys in _TOOLS.items()
        },
    }


def _table(parsed: dict[str, Any], key: str) -> dict[str, Any]:
    found = parsed.get(key)
    return found if isinstance(found, dict) else {}


def _setup_cfg(text: str | None) -> dict[str, dict[str, str]] | None:
    """Return what a setup.cfg says of dependencies; None where it cannot be read."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text or "")
    except Error:
        return None
    keys = {"install_requires", "setup_requires", "python_requires", "tests_require"}
    return {
        name: {key: value for key, value in parser.items(name) if name != "options" or key in keys}
        for name in ("options", "options.extras_require")
        if parser.has_section(name)
    }


_MIXED: Mapping[str, Callable[[str | None], Any]] = {"pyproject.toml": _pyproject, "setup.cfg": _setup_cfg}
