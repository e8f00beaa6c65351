"""What measured code detaches from its own process comes to us on Linux, and is ended here."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import psutil

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37
ROUNDS = 50
"""How often one looks for what was forked meanwhile."""


class Orphans:
    """The processes below this one that were not there before the measuring began."""

    def __init__(self) -> None:
        self._before = set(_children())

    def end(self, keep: Collection[int] = ()) -> None:
        """End all that is below this process but what was there before and the trees of ``keep``."""
        import psutil

        for _ in range(ROUNDS):
            found = [item for item in _children() if item not in self._before and item.pid not in keep]
            if not found:
                return
            for orphan in found:
                with suppress(psutil.Error):
                    for process in [*orphan.children(recursive=True), orphan]:
                        process.kill()
            psutil.wait_procs(found, timeout=0.2)  # which reaps them, as they are our own children by now


@contextmanager
def no_orphans() -> Iterator[Orphans]:
    """Take in the processes that lose their parent, and end them when the measuring ends. Nothing but Linux can."""
    was = _subreaper()
    _set_subreaper(is_on=True)
    orphans = Orphans()
    try:
        yield orphans
    finally:
        orphans.end()
        _set_subreaper(is_on=was)


def _children() -> list[psutil.Process]:
    import psutil

    if not sys.platform.startswith("linux"):
        return []
    with suppress(psutil.Error):
        return psutil.Process().children()
    return []


def _subreaper() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    value = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(value))
    return bool(value.value)


def _set_subreaper(*, is_on: bool) -> None:
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(is_on))
