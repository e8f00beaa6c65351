"""The seal of a folder changes with everything that could change what is started from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_action.seal import seal


def _make(folder: Path) -> None:
    (folder / "lib" / "__pycache__").mkdir(parents=True)
    (folder / "lib" / "main.py").write_text("x = 1")
    (folder / "lib" / "__pycache__" / "main.pyc").write_bytes(b"\0")
    (folder / "lib64").symlink_to("lib")
    (folder / "python").symlink_to("/usr/bin/python3")


def _relink(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


def _folder_for_link(folder: Path) -> None:
    (folder / "lib64").unlink()
    (folder / "lib64").mkdir()


def _link_for_file(folder: Path) -> None:
    (folder / "same.py").write_text("x = 1")
    (folder / "lib" / "main.py").unlink()
    (folder / "lib" / "main.py").symlink_to("../same.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file's content, of equal size": lambda folder: (folder / "lib" / "main.py").write_text("x = 2"),
    "bytecode": lambda folder: (folder / "lib" / "__pycache__" / "main.pyc").write_bytes(b"\1"),
    "a new file": lambda folder: (folder / "evil.pth").write_text(""),
    "a new empty folder": lambda folder: (folder / "evil").mkdir(),
    "a file that is gone": lambda folder: (folder / "lib" / "main.py").unlink(),
    "another name": lambda folder: (folder / "lib" / "main.py").rename(folder / "lib" / "Main.py"),
    "another place": lambda folder: (folder / "lib" / "main.py").rename(folder / "main.py"),
    "a link to another file": lambda folder: _relink(folder / "python", "/bin/true"),
    "a link to another folder": lambda folder: _relink(folder / "lib64", "/tmp"),
    "a folder for a link": _folder_for_link,
    "a link for a file of the same content": _link_for_file,
    "a pipe, which is not opened": lambda folder: os.mkfifo(folder / "pipe"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_each_change_breaks_the_seal(change: Callable[[Path], object], tmp_path: Path) -> None:
    _make(tmp_path)
    before = seal(str(tmp_path))
    change(tmp_path)
    assert seal(str(tmp_path)) != before


def test_the_seal_of_equal_folders_is_equal(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _make(tmp_path / name)
    assert seal(str(tmp_path / "one")) == seal(str(tmp_path / "two"))
