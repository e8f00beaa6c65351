"""What a commit holds at a path, as git and as GitHub's API tell it: text, nothing, or something that is no text."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BYTES = 1 << 20
"""A config needs a few kilobytes."""

_BOM = "\ufeff"
_MODES = {
    "120000": "a symbolic link, which is not followed",
    "160000": "a submodule",
    "040000": "a folder",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedFile:
    """One path of one commit. At most one of ``text`` and ``problem`` is set; neither where there is nothing.

    ``glimpse`` is what can be made out of a file that is no text: enough to see whose file it is, never a config.
    """

    text: str | None = None
    problem: str = ""
    glimpse: str = ""

    @property
    def is_absent(self) -> bool:
        """Whether the commit has nothing there."""
        return self.text is None and not self.problem


ABSENT = CommittedFile()
TOO_LARGE = CommittedFile(problem=f"larger than {MAX_BYTES >> 20} MiB")


def kind_problem(mode: str) -> str:
    """Return what an entry of a git tree is where it is no regular file; nothing where it is one."""
    return "" if mode.startswith("100") else _MODES.get(mode.zfill(6), "not a regular file")


def committed(content: bytes) -> CommittedFile:
    """Return a regular file's content as text. A byte order mark is dropped: editors on Windows write one."""
    if len(content) > MAX_BYTES:
        return TOO_LARGE
    try:
        text = content.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError:
        return CommittedFile(problem="not UTF-8 text", glimpse=_glimpse(content))
    if "\0" in text:
        return CommittedFile(problem="not text: it holds NUL bytes", glimpse=_glimpse(content))
    return CommittedFile(text=text)


def _glimpse(content: bytes) -> str:
    """Without NUL bytes, so that a header in UTF-16 can be seen as well."""
    return content.decode("utf-8", errors="replace").replace("\0", "")
