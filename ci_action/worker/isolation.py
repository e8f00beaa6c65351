"""Did this side run its own code? What was installed from the checkout would quietly give base the code of head."""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ci_action.core.spec import Side
from ci_action.worker import sources
from ci_action.worker.installed import is_made_from, owner
from ci_action.worker.loaded import SITE_NAMES, LoadedFile, as_prefix, loaded_files

OURS = frozenset({"torchscan", "ci_action"})
SUBSTANCE_BYTES = 32
"""Two files of fewer bytes may be equal by accident: most often an ``__init__.py``."""
_SEPARATE = 'set environment = "separate" and an install command, so that each side has its own'


def foreign_modules(
    root: Path, worktree: Path, checkout: Path, import_paths: Iterable[str], side: Side = "base"
) -> list[str]:
    """Return one sentence for each loaded file that is not this side's own although it should be.

    That is code of the repository: a file of the checkout, one of a distribution that was installed from the checkout,
    or one that the checkout has somewhere and that differs between the checkout and this side. Base never has such
    code from outside its worktree. Head has, as long as it equals head's own. Everything else is the environment,
    which is the same on both sides.
    """
    judge = _Judge(
        root=root.resolve(),
        worktree=worktree.resolve(),
        checkout=as_prefix(checkout),
        roots=tuple(root.resolve() / path for path in import_paths),
        side=side,
    )
    seen = [file for file in loaded_files(as_prefix(worktree)) if file.name.partition(".")[0] not in OURS]
    found = [(file.name, judge.fault(file, seen)) for file in seen]
    return [f"imported {name} from {fault}" for name, fault in sorted(found) if fault]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """One side: what is its own, and what the checkout holds."""

    root: Path
    worktree: Path
    checkout: str
    roots: tuple[Path, ...]
    side: Side

    def fault(self, file: LoadedFile, seen: list[LoadedFile]) -> str:
        """Say where a file came from and what to set, or nothing where it may be what it is."""
        if file.path.startswith(self.checkout) and not self._is_environment(file):
            inner = Path(file.path.removeprefix(self.checkout)).as_posix()
            return self._unless_heads(file, f"{inner} of the checkout", seen)
        shown = f"{Path(file.folder).name}/{file.inner}"
        if is_made_from(self.checkout, file):
            return self._unless_heads(file, f"{shown}, which was installed from the checkout", seen, joint=" and")
        if is_made_from(as_prefix(self.worktree), file):  # a side with an environment of its own
            return ""
        for place in sources.places(self.checkout, file.inner):
            if self._is_changed_source(file, place, seen):
                return f"{shown}, which the checkout has in {place or '.'}, not from its own commit: " + self._advice(
                    file, seen
                )
        if self._hides_changed_module(file):
            return (
                f"{shown}, not from its own commit, which has a module of that name: rename it, or uninstall the other"
            )
        return ""

    def _unless_heads(self, file: LoadedFile, place: str, seen: list[LoadedFile], *, joint: str = ", which") -> str:
        """Accuse code of the checkout, but not on head where it is what head has, or is generated from that."""
        if self.side == "base":
            return f"{place}, not from its own commit: {self._advice(file, seen)}"
        own = [path for path in self._own(file) if path.is_file()]
        if not own or any(sources.same_text(file.read(), sources.read(path)) for path in own):
            return ""
        other = own[0].relative_to(self.worktree).as_posix()
        told = f"{place}{joint} differs from {other} of its own commit"
        return f"{told}: install the package after the commit is checked out, or {self._advice(file, seen)}"

    def _own(self, file: LoadedFile) -> list[Path]:
        """Return where this side's own state of a file may lie."""
        found = [self.worktree / place / file.inner for place in sources.places(self.checkout, file.inner)]
        if file.path.startswith(self.checkout):
            found.insert(0, self.worktree / file.path.removeprefix(self.checkout))
        return found

    def _is_environment(self, file: LoadedFile) -> bool:
        """Check whether a file in the checkout was installed there: a ``.venv``, or ``pip install --target``."""
        if file.path.startswith(_environment_folders(self.checkout)):
            return True
        inner = Path(file.path.removeprefix(self.checkout))
        return not SITE_NAMES.isdisjoint(inner.parts) or (
            owner(file) is not None and not is_made_from(self.checkout, file)
        )

    def _is_changed_source(self, file: LoadedFile, place: str, seen: list[LoadedFile]) -> bool:
        """Check whether a package is the one of the checkout, and another one than this side's."""
        package = _package(file)
        own, other = self.worktree / place / package, Path(self.checkout, place, package)
        if not sources.differs(own, other, counts_added=self.side == "base"):
            return False
        if own.exists() and not sources.differs(own, Path(file.folder, package), counts_added=False):
            return False  # installed from what this side has
        members = [one for one in seen if one.folder == file.folder and one.top == file.top]
        if any(_is_copy(one, Path(self.checkout, place, one.inner)) for one in members):
            return True
        if not own.exists():  # not even its name is this side's
            return False
        installed = owner(file)
        return installed is not None and installed.name in sources.project_names(self.checkout, place)

    def _hides_changed_module(self, file: LoadedFile) -> bool:
        """Check whether a module stands in for one of an import path that this side has otherwise than the checkout."""
        if "." in file.name or file.name in sys.stdlib_module_names or file.is_compiled:
            return False
        for folder in self.roots:
            for own in (folder / file.name, folder / f"{file.name}.py"):
                is_there = own.is_file() if own.suffix else (own / "__init__.py").is_file()
                if is_there and own.is_relative_to(self.worktree):  # an import path may lead anywhere
                    other = Path(self.checkout, own.relative_to(self.worktree))
                    return sources.differs(own, other, counts_added=self.side == "base")
        return False

    def _advice(self, file: LoadedFile, seen: list[LoadedFile]) -> str:
        """Return what the owner can set: the folder to import from, where this commit can be imported as it is."""
        members = [one for one in seen if one.folder == file.folder and one.top == file.top]
        if not any(one.is_compiled for one in members):
            for folder in self._own_folders(file):
                if folder.is_relative_to(self.root) and folder not in self.roots:
                    return f"add {folder.relative_to(self.root).as_posix()!r} to import-paths"
        return _SEPARATE

    def _own_folders(self, file: LoadedFile) -> list[Path]:
        """Return the folders from which this side could import a file's package, wherever the checkout keeps it."""
        ends = [path for path in self._own(file) if path.is_file() and path.as_posix().endswith(f"/{file.inner}")]
        package = _package(file)
        first = package if package.endswith(".py") else f"{package}/__init__.py"
        elsewhere = [self.worktree / place for place in sources.places(as_prefix(self.worktree), first)]
        return [*(path.parents[file.inner.count("/")] for path in ends), *elsewhere]


def _package(file: LoadedFile) -> str:
    """Return the outermost regular package that a file belongs to; a namespace (PEP 420) is shared by many owners."""
    parts = file.inner.split("/")
    for depth in range(1, len(parts)):
        package = "/".join(parts[:depth])
        if Path(file.folder, package, "__init__.py").is_file():
            return package
    return file.inner


def _is_copy(file: LoadedFile, source: Path) -> bool:
    text = file.read()
    return text is not None and len(text) >= SUBSTANCE_BYTES and sources.same_text(text, sources.read(source))


def _environment_folders(workspace: str) -> tuple[str, ...]:
    named = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *site.getsitepackages()]
    folders = {as_prefix(folder) for folder in [*named, site.getusersitepackages()] if folder}
    # A prefix that holds the whole checkout excuses nothing in it.
    return tuple(folder for folder in folders if not workspace.startswith(folder))
