"""Where and how workers run: interpreters, limits, a scratch folder. Values only: every edge may know them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ci_action.core.spec import Side
    from ci_action.edges.workers.tree import TreeGuard


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """What a worker may use: seconds per target, and bytes of memory over its whole process tree."""

    timeout_seconds: float = 600.0
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """What runs a side's workers."""

    python: str
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlace:
    """Where and how workers run: each side's interpreter, a scratch folder, and their limits."""

    interpreters: Mapping[Side, Interpreter]
    scratch: Path
    limits: ChildLimits
    on_output: Callable[[str, str], None] | None = None
    guards: Mapping[Side, TreeGuard] = field(default_factory=dict)
    """What holds a side's worktree against the state in which it was made."""
