"""What installers left beside the modules: which distributions were made from the checkout, and what each owns.

``direct_url.json`` (PEP 610) names the folder, the wheel or the repository that a distribution was installed from, and
``RECORD`` (PEP 376) every file that it owns. pip, uv, poetry and pdm write both.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from csv import reader
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ci_action.worker.loaded import LoadedFile, as_prefix

_FINDER = re.compile(r"_[^/]*editable[^/]*\.py")


@dataclass(frozen=True, slots=True)
class Distribution:
    """One ``*.dist-info`` folder."""

    folder: Path

    @property
    def name(self) -> str:
        """Its normalized name."""
        return normalized(self.folder.name.partition("-")[0])

    @property
    def owned(self) -> frozenset[str]:
        """The files that it installed, from the folder that holds it."""
        return _owned(self.folder)


@cache
def distributions(folder: str) -> tuple[Distribution, ...]:
    """List the distributions that are installed in a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        return tuple(Distribution(Path(entry.path)) for entry in entries if entry.name.endswith(".dist-info"))
    return ()


@cache
def made_from(checkout: str, folder: str) -> tuple[Distribution, ...]:
    """List the distributions of a folder that were installed from the checkout: a folder, a wheel, or by git."""
    return tuple(found for found in distributions(folder) if _source(found.folder).startswith(checkout))


def is_made_from(checkout: str, file: LoadedFile) -> bool:
    """Check whether a distribution of the checkout owns an installed file. An editable's finder is no code."""
    if _FINDER.fullmatch(file.inner):
        return False
    return any(file.inner in found.owned for found in made_from(checkout, file.folder))


def owner(file: LoadedFile) -> Distribution | None:
    """Return the distribution that a file belongs to. Reads every RECORD beside it, so ask this seldom."""
    return next((found for found in distributions(file.folder) if file.inner in found.owned), None)


def normalized(name: str) -> str:
    """Return a distribution's name as all tools compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _source(folder: Path) -> str:
    """Return the real path that a distribution was installed from, as a prefix; empty where it came from an index."""
    try:
        found: Any = json.loads((folder / "direct_url.json").read_text(encoding="utf-8"))
        url = urlsplit(found["url"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    if url.scheme.rpartition("+")[2] != "file":
        return ""
    return as_prefix(url2pathname(url.path))


@cache
def _owned(folder: Path) -> frozenset[str]:
    with suppress(OSError, UnicodeDecodeError), (folder / "RECORD").open(encoding="utf-8", newline="") as record:
        return frozenset(row[0] for row in reader(record) if row)
    return frozenset()
