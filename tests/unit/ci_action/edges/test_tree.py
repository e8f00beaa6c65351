"""Base's worktree is what it was when it was made, or nothing more is measured from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_action.core.timing.evidence import TREE_CHANGED
from ci_action.edges.workers.tree import TreeGuard


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "net.py").write_text("x = 1")
    (tmp_path / "link").symlink_to("pkg")
    return tmp_path


def _same_size_and_times(tree: Path) -> None:
    file = tree / "pkg" / "net.py"
    before = file.stat()
    file.write_text("x = 2")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _relink(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("/tmp")


def _another_folder(tree: Path) -> None:
    (tree / "pkg").rename(tree / "old")
    (tree / "pkg").mkdir()
    (tree / "old" / "net.py").rename(tree / "pkg" / "net.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda tree: (tree / "pkg" / "net.py").write_text("sleep()"),
    "content of equal size, with the times set back": _same_size_and_times,
    "mode": lambda tree: (tree / "pkg" / "net.py").chmod(0o755),
    "gone": lambda tree: (tree / "pkg" / "net.py").unlink(),
    "a link elsewhere": _relink,
    "another folder in its place": _another_folder,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_file_ends_it(change: Callable[[Path], object], tree: Path) -> None:
    guard = TreeGuard(tree)
    change(tree)
    failure = guard.failure()
    assert failure is not None
    assert (failure["stage"], failure["type"]) == ("isolation", TREE_CHANGED)


def test_what_is_new_is_removed(tree: Path) -> None:
    guard = TreeGuard(tree)
    (tree / "pkg" / "__pycache__").mkdir()
    (tree / "pkg" / "__pycache__" / "net.cpython-311.pyc").write_bytes(b"forged")
    (tree / "sitecustomize.py").write_text("")
    (tree / "new").symlink_to("/nowhere")
    os.mkfifo(tree / "pipe")
    assert guard.failure() is None
    assert sorted(path.name for path in tree.rglob("*")) == ["link", "net.py", "pkg"]


def test_an_untouched_tree_stays_as_it_is(tree: Path) -> None:
    guard = TreeGuard(tree)
    (tree / "pkg" / "net.py").read_text()
    assert guard.failure() is None
    assert (tree / "pkg" / "net.py").read_text() == "x = 1"
