"""Counts the instructions of a call, in a process that ``valgrind --tool=callgrind`` runs.

Valgrind listens to a program through rotations of a register that change nothing on a real processor. Python cannot
write them, so a page of machine code does. Collection is on for the counted call alone.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CODE = bytes.fromhex(
    "4889f8 31d2"  # rax = the request's address; rdx = 0, which is what a real processor answers
    "48c1c703 48c1c70d 48c1c73d 48c1c733 4887db"  # rol rdi by 3, 13, 61 and 51: 128 in all; xchg rbx, rbx
    "4889d0 c3"  # return rdx
)
_RUNNING_ON_VALGRIND = 0x1001
_CALLGRIND = ord("C") << 24 | ord("T") << 16
_DUMP, _ZERO, _TOGGLE, _START, _STOP = _CALLGRIND, _CALLGRIND + 1, _CALLGRIND + 2, _CALLGRIND + 4, _CALLGRIND + 5
_TOTAL = re.compile(r"^summary: (\d+)", re.MULTILINE)


class NoRequests(Exception):  # noqa: N818 # its name is what crosses to the orchestrator
    """This process cannot speak to valgrind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callgrind:
    """The valgrind that runs this process. It writes each count to ``<prefix>.<number>``."""

    prefix: Path
    request: Callable[[int], int]

    def count(self, call: Callable[[], Any], calls: int) -> list[int]:
        """Count the instructions of some calls, one by one, after one that fills valgrind's own caches."""
        had_collector = gc.isenabled()
        gc.disable()
        self.request(_START)
        try:
            call()
            return [self._counted(call) for _ in range(calls)]
        finally:
            self.request(_STOP)
            if had_collector:
                gc.enable()

    def _counted(self, call: Callable[[], Any]) -> int:
        self.request(_ZERO)
        self.request(_TOGGLE)
        call()
        self.request(_TOGGLE)
        self.request(_DUMP)
        (file,) = self.prefix.parent.glob(f"{self.prefix.name}.*")
        total = _TOTAL.search(file.read_text(encoding="utf-8"))
        file.unlink()  # its number grows over the life of the process, so the next one is found by being alone
        if total is None:
            raise NoRequests("callgrind wrote a count that has no summary")
        return int(total[1])


def attach(folder: Path) -> Callgrind:
    """Reach the valgrind around this process; its counts are in ``folder``, named by the process.

    Raises:
        NoRequests: there is none, or the requests of this processor are not known.
    """
    if (platform.system(), platform.machine(), ctypes.sizeof(ctypes.c_void_p)) != ("Linux", "x86_64", 8):
        raise NoRequests(f"the requests of {platform.system()} on {platform.machine()} are not known")
    request = _request()
    if not request(_RUNNING_ON_VALGRIND):
        raise NoRequests("this process does not run under valgrind")
    return Callgrind(prefix=folder / str(os.getpid()), request=request)


def _request() -> Callable[[int], int]:
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_CODE)
    anchor = ctypes.c_char.from_buffer(page)  # keeps the page where it is, and alive
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(ctypes.addressof(anchor))

    def request(number: int, _alive: Any = anchor) -> int:
        words = (ctypes.c_uint64 * 6)(number)
        return int(function(ctypes.addressof(words)))

    return request
