"""Torch's thread counts, and whether it was the workload that changed them."""

from __future__ import annotations

import os
from contextlib import suppress

import torch

_KINDS = ("threads", "inter-op threads")


class ThreadsChanged(Exception):  # noqa: N818 # its name is what the report shows
    """The workload changed torch's thread count between blocks, so they do not measure one thing."""


class ThreadWatch:
    """The thread counts as last read, and the cores on which they were read.

    Since torch 2.14 the inter-op count that nobody has set is the number of cores that the calling thread may use at
    this moment. Our own one-core rule, ``taskset`` or a cpuset of somebody else, and a workload that pins itself all
    change it without changing torch. So readings are compared on the same cores, whichever count follows them.
    """

    def __init__(self) -> None:
        self._cores, self._counts = _cores(), _counts()

    def check(self) -> None:
        """Raise ThreadsChanged if the counts differ from the last reading for another reason than other cores."""
        cores, counts = _cores(), _counts()
        comparable = counts if cores == self._cores else _counts_on(self._cores, cores)
        for kind, before, now in zip(_KINDS, self._counts, comparable or self._counts, strict=True):
            if now != before:
                raise ThreadsChanged(
                    f"the workload changed torch's {kind} from {before} to {now}: "
                    "set them once, before the model is built, or with the config's key threads"
                )
        self._cores, self._counts = cores, counts


def _counts() -> tuple[int, int]:
    return torch.get_num_threads(), torch.get_num_interop_threads()


def _counts_on(cores: frozenset[int], present: frozenset[int]) -> tuple[int, int] | None:
    """Return the counts that this thread would see on other cores, or None where it may not have just these."""
    try:
        os.sched_setaffinity(0, cores)
    except OSError:  # none of them is left to this process, or a sandbox forbids the call
        return None
    try:
        # A cpuset that became smaller leaves the rest of the cores, and raises nothing.
        return _counts() if _cores() == cores else None
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, present)


def _cores() -> frozenset[int]:
    """Return the cores that this thread may use; none where the system does not tell (macOS, Windows)."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()
