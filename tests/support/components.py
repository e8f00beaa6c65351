"""Outside programs that some tests drive. Under CI a missing one is an error, elsewhere a skip that says why."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
NODE_MODULES = REPOSITORY / ".node" / "node_modules"
SETUP = "run `make setup`"
NODE_SETUP = "install Node.js 20 or newer with npm, then run `make setup`"


def in_ci() -> bool:
    """Whether a missing component is an error."""
    return os.environ.get("CI", "").lower() in {"true", "1"}


@dataclass(frozen=True, slots=True)
class Component:
    """Where a program is looked for, and what brings it."""

    find: Callable[[], Path | None]
    remedy: str


def _on_path(*names: str) -> Callable[[], Path | None]:
    def find() -> Path | None:
        found = (shutil.which(name) for name in names)
        return next((Path(path) for path in found if path), None)

    return find


def _beside_python(name: str) -> Callable[[], Path | None]:
    """Look where pip puts scripts first: the virtual environment need not be activated."""

    def find() -> Path | None:
        script = Path(sys.executable).parent / name
        return script if script.is_file() else _on_path(name)()

    return find


def _file(path: Path) -> Callable[[], Path | None]:
    return lambda: path if path.exists() else None


COMPONENTS = {
    "act": Component(_beside_python("act"), SETUP),
    "axe": Component(_file(NODE_MODULES / "axe-core" / "axe.min.js"), NODE_SETUP),
    "chromium": Component(_on_path("chromium", "chromium-browser", "google-chrome"), "install Debian's chromium"),
    "git": Component(_on_path("git"), "install git"),
    "node": Component(_on_path("node"), NODE_SETUP),
    "octokit-openapi": Component(_file(NODE_MODULES / "@octokit" / "openapi" / "generated"), NODE_SETUP),
    "prism": Component(_file(NODE_MODULES / "@stoplight" / "prism-cli" / "dist" / "index.js"), NODE_SETUP),
    "wheelhouse": Component(_file(REPOSITORY / ".cache" / "wheelhouse" / ".ready"), SETUP),
    "setpriv": Component(_on_path("setpriv"), "install util-linux"),
    "zizmor": Component(_beside_python("zizmor"), SETUP),
    "jactionlint": Component(_beside_python("jactionlint"), SETUP),
    "check-jsonschema": Component(_beside_python("check-jsonschema"), SETUP),
}


def need(name: str) -> Path:
    """Give the component's path. Without it the test is skipped with the remedy, or fails when CI is set."""
    component = COMPONENTS[name]
    path = component.find()
    if path is not None:
        return path
    reason = f"{name} is not installed: {component.remedy}"
    if in_ci():
        pytest.fail(reason)
    pytest.skip(reason)
