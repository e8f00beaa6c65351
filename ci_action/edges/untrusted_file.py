"""Open a file that untrusted code may have made: its kind and its size are known before a byte of it is read."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from pathlib import Path

_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""A link is not followed, and a pipe that nobody writes to does not block. Windows has neither flag, nor such pipes."""
_PIECE = 1 << 20


def read_untrusted(path: Path, max_bytes: int) -> bytes:
    """Return the content of a regular file of at most ``max_bytes``.

    Raises EvidenceError for any other kind or size, also of one that grows while it is read, and OSError.
    """
    _check_kind(os.lstat(path))
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        _check_kind(found)  # again: another file may have come into its place
        if found.st_size > max_bytes:
            raise EvidenceError(f"the file is {found.st_size} bytes long; at most {max_bytes} are read")
        pieces, left = [], max_bytes + 1
        while left and (piece := file.read(min(left, _PIECE))):
            pieces.append(piece)
            left -= len(piece)
    if not left:
        raise EvidenceError(f"the file grew beyond {max_bytes} bytes while it was read")
    return b"".join(pieces)


def _check_kind(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise EvidenceError("it is not a regular file")
