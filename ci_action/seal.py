"""``python -I -S -c "$TEXT_OF_THIS_FILE" FOLDER [SEAL]``: the digest of all that a folder holds, printed or compared.

The action's environment is sealed before untrusted code runs. The later steps compare before they start anything from
it, by this text, which they have from a step output: the runner holds those, and no file that could be rewritten.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys


def seal(folder: str) -> str:
    """Return a digest over the names, kinds and contents of all files, folders and links below ``folder``."""
    whole = hashlib.sha256()
    for place, folders, files in os.walk(folder):  # follows no link
        folders.sort()
        for name in sorted([*folders, *files]):
            path = os.path.join(place, name)  # noqa: PTH118 # pathlib takes longer to import than this to run
            whole.update(f"{os.path.relpath(path, folder)}\0".encode("utf-8", "surrogateescape"))
            whole.update(_content(path))
    return whole.hexdigest()


def _content(path: str) -> bytes:
    kind = os.lstat(path).st_mode
    if stat.S_ISLNK(kind):
        return b"link" + hashlib.sha256(os.fsencode(os.readlink(path))).digest()  # noqa: PTH115 # as above
    if stat.S_ISREG(kind):
        with open(path, "rb") as file:  # noqa: PTH123 # as above
            return b"file" + hashlib.file_digest(file, "sha256").digest()
    return b"folder" if stat.S_ISDIR(kind) else b"other"  # a pipe is not opened: it would wait for ever


if __name__ == "__main__":
    found = seal(sys.argv[1])
    if len(sys.argv) == 2:
        print(found)
    elif found != sys.argv[2]:
        print(
            "::error title=TorchScan::the action's own environment was changed after it was made, so nothing of it is "
            "started: only code that this job ran can have done that"
        )
        sys.exit(3)
