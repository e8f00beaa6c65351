"""A file of untrusted code is known before it is read: nothing blocks, nothing fills the memory."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_action.edges import untrusted_file
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.errors import EvidenceError


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(8 << 30)


def _socket(path: Path) -> None:
    os.chdir(path.parent)  # its name may be no longer than some 100 bytes
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path.name)


KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo, "not a regular file"),
    "a folder": (os.mkdir, "not a regular file"),
    "a socket": (_socket, "not a regular file"),
    "a link to a file": (lambda path: path.symlink_to(__file__), "not a regular file"),
    "a link to nothing": (lambda path: path.symlink_to("/nowhere"), "not a regular file"),
    "a link to an endless device": (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    "8 GB of nothing": (_sparse, "8589934592 bytes long; at most 100"),
    "one byte more": (lambda path: path.write_bytes(b"x" * 101), "101 bytes long; at most 100"),
}


@pytest.mark.parametrize(("make", "reason"), KINDS.values(), ids=KINDS.keys())
def test_anything_else_than_a_small_regular_file_is_refused(
    make: Callable[[Path], object], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "f")
    with pytest.raises(EvidenceError, match=reason):
        read_untrusted(tmp_path / "f", 100)


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100)
    assert read_untrusted(tmp_path / "f", 100) == b"x" * 100


def test_a_file_that_grows_is_not_read_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_bytes(b"x" * 5000)
    real = os.fstat

    def small(descriptor: int) -> os.stat_result:
        found = list(real(descriptor))
        found[stat.ST_SIZE] = 10
        return os.stat_result(found)

    monkeypatch.setattr(untrusted_file.os, "fstat", small)
    with pytest.raises(EvidenceError, match="grew beyond 100 bytes"):
        read_untrusted(tmp_path / "f", 100)


def test_a_pipe_that_comes_into_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regular = Path(__file__).stat()
    os.mkfifo(tmp_path / "f")
    monkeypatch.setattr(untrusted_file.os, "lstat", lambda _: regular)
    with pytest.raises(EvidenceError, match="not a regular file"):
        read_untrusted(tmp_path / "f", 1 << 20)
