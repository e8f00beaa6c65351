"""Look at a repository without running any of it: models by their syntax, requirements and workflows by their files."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.core.config.committed import CommittedFile
from ci_action.core.config.file import find_config
from ci_action.core.config.starter import DEFAULT_IMPORT_PATHS, MOST_MODELS, FoundModel, Survey, import_paths
from ci_action.edges.projects import SKIPPED, installed_folders, projects

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIREMENTS = "requirements.txt"
MOST_FILES = 2000
FILE_BYTES = 1 << 20
MODULE_NAMES = frozenset({"nn.Module", "torch.nn.Module", "Module", "LightningModule", "pl.LightningModule"})
TORCH = re.compile(r"^\s*torch(?![\w-])", re.MULTILINE)


def survey(root: Path) -> Survey:
    """Describe what lies below ``root``, as far as a starter needs to know it."""
    found = find_config(lambda name: CommittedFile(text=_text(root / name)))
    folders = tuple(folder for folder in installed_folders(root, _text) if folder.path not in DEFAULT_IMPORT_PATHS)
    return Survey(
        models=tuple(_models(root, import_paths(Survey(code_folders=folders)))),
        code_folders=folders,
        install=_install(root),
        config=found.source if found else None,
        forks_because=_forks(root),
    )


def _models(root: Path, paths: tuple[str, ...]) -> list[FoundModel]:
    """The first few models that can be built as they are."""
    found: dict[str, FoundModel] = {}
    for path in _python_files(root):
        module = _module(path.relative_to(root), paths)
        for name in _classes(_text(path) or "") if module else ():
            found.setdefault(name.lower(), FoundModel(name=name, module=module))
        if len(found) >= MOST_MODELS:
            break
    return list(found.values())[:MOST_MODELS]


def _python_files(root: Path) -> Iterator[Path]:
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith((".", "_")))
        for name in sorted(files):
            if name.endswith(".py") and seen < MOST_FILES:
                seen += 1
                yield Path(folder, name)


def _module(path: Path, paths: tuple[str, ...]) -> str:
    """Return the dotted name by which base and head both can import a file from an import path, or nothing."""
    folder = max((one for one in paths if path.is_relative_to(one)), key=len)  # "." holds everything
    parts = list(path.relative_to(folder).with_suffix("").parts)
    if parts and parts[-1] == "__init__":
        parts = parts[:-1]
    usable = parts and all(part.isidentifier() for part in parts) and parts[-1] not in {"setup", "conftest"}
    return ".".join(parts) if usable else ""


def _classes(text: str) -> Iterator[str]:
    """Classes that say that they are modules and whose __init__ needs nothing."""
    if "Module" not in text:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            bases = {ast.unparse(base) for base in node.bases}
            if bases & MODULE_NAMES and _needs_nothing(node) and _has_forward(node):
                yield node.name


def _needs_nothing(node: ast.ClassDef) -> bool:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            wanted = len(item.args.args) + len(item.args.posonlyargs) - 1 - len(item.args.defaults)
            return wanted <= 0 and all(default is not None for default in item.args.kw_defaults)
    return True


def _has_forward(node: ast.ClassDef) -> bool:
    return any(isinstance(item, ast.FunctionDef) and item.name == "forward" for item in node.body)


def _install(root: Path) -> str:
    """The command that installs what the repository says that it needs, and torch where it does not say so."""
    required, project = _text(root / REQUIREMENTS), _project(root)
    words = [] if required is None else ["-r", REQUIREMENTS]
    words += [] if project is None else ["."]
    words += [] if words else [f"./{place}" for place in projects(root) if place != "."]
    is_listed = TORCH.search("\n".join([required or "", *(project or ())]))
    return " ".join(["python -m pip install", *([] if is_listed else ["torch"]), *words])


def _project(root: Path) -> list[str] | None:
    """What the project depends on; None where it is no project that can be installed."""
    try:
        project = tomllib.loads(_text(root / "pyproject.toml") or "").get("project")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    if not isinstance(project, dict):
        return None
    listed = project.get("dependencies")
    return [str(item) for item in listed] if isinstance(listed, list) else []


def _forks(root: Path) -> str:
    """Why some pull requests will come with a token that can only read."""
    if any((root / ".github" / name).is_file() for name in ("dependabot.yml", "dependabot.yaml")):
        return "Dependabot opens pull requests here"
    if any(root.glob("LICEN[CS]E*")):
        return "there is a licence, so forks are to be expected"
    return ""


def _text(path: Path) -> str | None:
    try:
        if path.is_symlink() or path.stat().st_size > FILE_BYTES:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
