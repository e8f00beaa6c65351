"""Git configuration that outranks the repository's own, written to a private file for one call.

The file is named to git as ``-c include.path=FILE``. Every version reads that, with the rank of the command line, and
hands it on to the processes that it starts. ``GIT_CONFIG_COUNT`` is silently ignored before git 2.31, a file of
``GIT_CONFIG_GLOBAL`` ranks below ``.git/config``, and a plain ``-c`` would show a token to every user of the machine.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Pair = tuple[str, str]

HARDENING: tuple[Pair, ...] = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", ""),  # git before 2.36 would start a program of the name "false"
    ("core.alternateRefsCommand", ":"),
    ("core.sparseCheckout", "false"),  # a sparse workspace must not hide files from our worktrees
    ("core.splitIndex", "false"),  # a copy of the index must not write its other half beside the original
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("gc.auto", "0"),  # the repository is not ours to tidy up
    ("maintenance.auto", "false"),
    ("advice.detachedHead", "false"),
)

_LFS_PROGRAM = re.compile(r"^lfs\.(customtransfer|extension)\..*\.(path|clean|smudge)$|\.standalonetransferagent$")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\b": "\\b"})


def without_filters(names: Iterable[str]) -> list[Pair]:
    """Return config that empties each filter driver. ``names`` are the keys of ``git config --get-regexp ^filter.``."""
    drivers = sorted({name.rpartition(".")[0] for name in names})
    off = {"smudge": "", "clean": "", "process": "", "required": "false"}
    return [(f"{driver}.{key}", value) for driver in drivers for key, value in off.items()]


def without_programs(names: Iterable[str]) -> list[Pair]:
    """Return config that empties each program git-lfs would start. ``names``: keys of ``--get-regexp ^lfs.``."""
    return [(name, "") for name in sorted(set(names)) if _LFS_PROGRAM.search(name)]


def as_file(pairs: Iterable[Pair]) -> str:
    """Return pairs as the text of a config file. A subsection (between the first dot and the last) may be any text."""
    lines = []
    for key, value in pairs:
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        head = f'[{section} "{subsection.translate(_ESCAPES)}"]' if subsection else f"[{section}]"
        lines.append(f'{head}\n\t{name} = "{value.translate(_ESCAPES)}"\n')
    return "".join(lines)


@contextmanager
def written(pairs: Iterable[Pair], folder: Path) -> Iterator[Path]:
    """Write pairs to a file that only this user can read, for as long as the block runs: it may hold a token."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="gitconfig-", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            file.write(as_file(pairs))
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
