"""A zip from an enemy: every way of packing anything but one plain file is refused, and nothing is ever unpacked."""

from __future__ import annotations

import io
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_action.edges.github import archive
from ci_action.edges.github.archive import only_file
from ci_action.errors import EvidenceError

NAME = "evidence.json"
CONTENT = b'{"version":1}'


def zipped(*files: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as packed:
        for name, content in files:
            packed.writestr(name, content)
    return target.getvalue()


def entry(name: str = NAME, *, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def encrypted() -> bytes:
    data = bytearray(zipped((NAME, CONTENT), method=zipfile.ZIP_STORED))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(signature) + offset
        data[place : place + 2] = struct.pack("<H", 1)
    return bytes(data)


def renamed(name: bytes) -> bytes:
    assert len(name) == len(NAME)
    return zipped((NAME, CONTENT)).replace(NAME.encode(), name)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def duplicated() -> bytes:
    return zipped((NAME, CONTENT), (NAME, b"{}"))


def lying() -> bytes:
    """A bomb whose header says that it unpacks to 13 bytes."""
    data = bytearray(zipped((NAME, b"0" * 30_000_000)))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(signature) + offset
        data[place : place + 4] = struct.pack("<I", 13)
    return bytes(data)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "no zip at all": lambda: b"GIF89a",
    "empty": zipped,
    "a second file": lambda: zipped((NAME, CONTENT), ("x.json", CONTENT)),
    "the same name twice": duplicated,
    "another name": lambda: zipped(("other.json", CONTENT)),
    "a parent folder": lambda: zipped((f"../{NAME}", CONTENT)),
    "a sub folder": lambda: zipped((f"a/{NAME}", CONTENT)),
    "an absolute path": lambda: zipped((f"/{NAME}", CONTENT)),
    "a drive": lambda: zipped((f"C:{NAME}", CONTENT)),
    "backslashes": lambda: zipped((f"..\\{NAME}", CONTENT)),
    "a name with NUL": lambda: renamed(b"evidence.js\0n"),
    "a directory": lambda: zipped((entry(f"{NAME}/"), b"")),
    "a symbolic link": lambda: zipped((entry(mode=stat.S_IFLNK | 0o777), b"/etc/passwd")),
    "a device": lambda: zipped((entry(mode=stat.S_IFCHR | 0o644), b"")),
    "encrypted": encrypted,
    "bzip2": lambda: zipped((NAME, CONTENT), method=zipfile.ZIP_BZIP2),
    "lzma": lambda: zipped((NAME, CONTENT), method=zipfile.ZIP_LZMA),
    "a bomb": lambda: zipped((NAME, b"0" * 30_000_000)),
    "a bomb with a lying header": lying,
    "too large as it comes": lambda: zipped((NAME, random.Random(0).randbytes(5_100_000))),
    "cut off": lambda: zipped((NAME, CONTENT * 50))[:60],
}


def test_the_one_file_is_read() -> None:
    assert only_file(zipped((NAME, CONTENT)), NAME) == CONTENT
    assert only_file(zipped((entry(), CONTENT), method=zipfile.ZIP_STORED), NAME) == CONTENT


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", HOSTILE)
def test_everything_else_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EvidenceError) as refused:
        only_file(HOSTILE[kind](), NAME)
    assert "passwd" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_what_packs_more_than_a_thousand_to_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # given 900,000 equal bytes in about 1,000: allowed at 1000 to 1, refused at 100 to 1
    packed = zipped((NAME, b" " * 900_000))
    assert len(only_file(packed, NAME)) == 900_000
    monkeypatch.setattr(archive, "MOST_RATIO", 100)
    with pytest.raises(EvidenceError, match="100 to 1"):
        only_file(packed, NAME)


def test_500_mutated_archives_are_read_or_refused_and_nothing_else_happens() -> None:
    good = zipped((NAME, CONTENT * 40))
    outcomes = {"read": 0, "refused": 0}
    for seed in range(500):
        rng = random.Random(seed)
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            only_file(bytes(data), NAME)
            outcomes["read"] += 1
        except EvidenceError:
            outcomes["refused"] += 1
    assert outcomes["refused"] > 250
    assert sum(outcomes.values()) == 500
