"""A change of the whole process that overlapping analyses share: the first makes it, the last takes it back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any, Self


class Shared:
    """Analyses in several threads overlap in any order: restoring what each found would leave the change for good."""

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = Lock()
        self._users = 0
        self._change: AbstractContextManager[Any] | None = None

    def __enter__(self) -> Self:
        with self._lock:
            if self._users == 0:
                self._change = self._make()
                self._change.__enter__()
            self._users += 1
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._change is not None:
                self._change.__exit__(None, None, None)
                self._change = None
