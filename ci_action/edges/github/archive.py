"""Read one file out of a zip that an enemy may have packed: in memory, counted while reading, never extracted."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

from ci_action.core.handover.publish_evidence import MOST_BYTES
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from zipfile import ZipInfo

ARCHIVE_BYTES = 5_000_000
MOST_RATIO = 1000
"""JSON of equal rows packs 100 to 1; a bomb packs 1000 to 1, which is all that one level of deflate can do."""
PIECE_BYTES = 1 << 16
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
ENCRYPTED = 0x1
KIND, REGULAR = 0o170000, 0o100000


def only_file(archive: bytes, name: str) -> bytes:
    """Give the content of ``name``, which must be all that the archive holds.

    Raises:
        EvidenceError: for anything else than one plain, flat, moderately packed file of that name.
    """
    if len(archive) > ARCHIVE_BYTES:
        raise EvidenceError(f"the artifact is larger than {ARCHIVE_BYTES // 10**6} MB")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            entries = opened.infolist()
            if len(entries) != 1:
                raise EvidenceError(f"the artifact holds {len(entries)} files; accepted: {name} alone")
            _check(entries[0], name)
            return _content(opened, entries[0], len(archive))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        raise EvidenceError("the artifact is not a zip that can be read") from None


def _check(entry: ZipInfo, name: str) -> None:
    kind = (entry.external_attr >> 16) & KIND
    if entry.filename != name or entry.orig_filename != name:
        raise EvidenceError(f"the artifact holds another file than {name}")
    if entry.flag_bits & ENCRYPTED or entry.compress_type not in METHODS:
        raise EvidenceError(f"{name} is encrypted, or packed in an unusual way")
    if entry.is_dir() or kind not in {0, REGULAR}:
        raise EvidenceError(f"{name} is not a plain file")


def _content(opened: zipfile.ZipFile, entry: ZipInfo, packed: int) -> bytes:
    """Read piece by piece: what the archive says of the file's size is not believed."""
    pieces, size = [], 0
    with opened.open(entry) as file:
        while piece := file.read(PIECE_BYTES):
            size += len(piece)
            if size > MOST_BYTES or size > MOST_RATIO * packed:
                raise EvidenceError(
                    f"{entry.filename} unpacks to more than {MOST_BYTES // 10**6} MB, or {MOST_RATIO} to 1"
                )
            pieces.append(piece)
    return b"".join(pieces)
