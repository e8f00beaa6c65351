"""Installations as pip leaves them, without pip: files, RECORD and direct_url.json in a folder of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def install(site: Path, files: dict[str, str], name: str = "mypkg", source: dict[str, Any] | None = None) -> None:
    """Put files into ``site`` as the distribution ``name``. ``source`` is its direct_url.json."""
    put(site, files)
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    if source is not None:
        (info / "direct_url.json").write_text(json.dumps(source))


def put(folder: Path, files: dict[str, str]) -> None:
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")


def of_folder(folder: Path, *, editable: bool = False) -> dict[str, Any]:
    """What pip writes for ``pip install .`` and ``pip install -e .``."""
    return {"url": folder.as_uri(), "dir_info": {"editable": True} if editable else {}}


def of_wheel(wheel: Path) -> dict[str, Any]:
    """What pip writes for ``pip install dist/x.whl``."""
    return {"url": wheel.as_uri(), "archive_info": {"hashes": {}}}


def of_git(folder: Path) -> dict[str, Any]:
    """What pip writes for ``pip install git+file:///folder``."""
    return {"url": folder.as_uri(), "vcs_info": {"vcs": "git", "commit_id": "0" * 40}}
