"""What measured code may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """What a worker may use: seconds per target, and bytes of memory over its whole process tree."""

    timeout_seconds: float = 600.0
    memory_bytes: int | None = None
