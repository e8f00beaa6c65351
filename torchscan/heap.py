"""The cyclic garbage collector, kept off what lives already: with torch loaded, that is 160,000 objects and more."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def settled_heap() -> Iterator[None]:
    """Let records or modules be made without setting off full passes over everything that was there before.

    What is made meanwhile is collected as usual. An application that froze its heap itself keeps that untouched.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
