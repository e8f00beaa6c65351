"""The tree keeps its promises: what lies at the top, how long things are, what they are called, what the docs list."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.components import REPOSITORY

PACKAGES = ("torchscan", "ci_action")
TOP_LEVEL = {
    ".agents",
    ".ci",
    ".github",
    ".gitignore",
    "CITATION.cff",
    "LICENSE",
    "Makefile",
    "README.md",
    "action.yml",
    "ci_action",
    "pyproject.toml",
    "templates",
    "tests",
    "torchscan",
}
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "misc"}
FILE_LINES = 400
FUNCTION_LINES = 50
# Spelled in halves, so that this file does not name what no file may name.
REGISTRY_HOSTS = ("pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "debian" + ".org")


def files() -> list[Path]:
    """Give every file that a commit of the working tree would hold."""
    command = ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return [REPOSITORY / name for name in names if name and (REPOSITORY / name).is_file()]


def sources() -> list[Path]:
    return [path for path in files() if path.suffix == ".py" and path.relative_to(REPOSITORY).parts[0] in PACKAGES]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Give each function's name and its lines of code: without docstring, comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = node.body[0].end_lineno or 0 if ast.get_docstring(node) else node.lineno - 1
            body = (line.strip() for line in lines[start : node.end_lineno])
            yield node.name, sum(1 for line in body if line and not line.startswith("#"))


def test_only_what_belongs_lies_at_the_top() -> None:
    assert {path.relative_to(REPOSITORY).parts[0] for path in files()} <= TOP_LEVEL


def test_no_file_outgrows_its_reader() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert lengths
    assert {str(path): length for path, length in lengths.items() if length > FILE_LINES} == {}


def test_no_function_outgrows_its_reader() -> None:
    long = {f"{path}:{name}": size for path in sources() for name, size in functions(path) if size > FUNCTION_LINES}
    assert long == {}


def test_no_name_is_empty() -> None:
    parts = {path: set(path.relative_to(REPOSITORY).with_suffix("").parts) for path in files()}
    assert [path for path, names in parts.items() if names & EMPTY_NAMES] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_architecture_lists_every_room_and_no_other(package: str) -> None:
    text = (REPOSITORY / ".github" / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {package}")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `(\w+)/`", section, flags=re.MULTILINE))
    rooms = {path.relative_to(REPOSITORY).parts[1] for path in sources() if path.parts[-3:-2] == (package,)}
    assert listed == rooms


def test_no_file_names_a_package_registry() -> None:
    found = []
    for path in files():
        content = path.read_bytes()
        found += [f"{path}: {host}" for host in REGISTRY_HOSTS if host.encode() in content]
    assert found == []


def test_the_citation_has_the_version_of_the_package() -> None:
    version = re.search(r'^version = "(.+)"$', (REPOSITORY / "pyproject.toml").read_text(), flags=re.MULTILINE)
    assert version is not None
    assert f"\nversion: {version[1]}\n" in (REPOSITORY / "CITATION.cff").read_text()
