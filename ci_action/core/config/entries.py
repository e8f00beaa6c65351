"""The owner's config as values. Parsing and its errors live in ``config_file``; nothing here can be built illegal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ci_action.core.spec import Analysis

OnExceed = Literal["fail", "warn"]
OnUnknown = Literal["fail", "warn", "ignore"]
CommentMode = Literal["always", "on-change", "on-failure", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputCheck:
    """How the outputs of both sides are held against each other: a callable of base, tolerances, or not at all."""

    callable: str | None = None
    rtol: float | None = None
    atol: float | None = None

    @property
    def is_skipped(self) -> bool:
        """Whether the owner asked for no check."""
        return self.callable is None and self.rtol is None and self.atol is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What of a target is measured with a clock or an allocator, and how often."""

    metrics: tuple[str, ...] = ("latency",)
    pairs: int = 10
    output_check: OutputCheck = field(default_factory=OutputCheck)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One model or workload, with an identity that is stable across base and head."""

    id: str
    factory: str
    analysis: Analysis = "full"
    device: str = "cpu"
    benchmark: Benchmark | None = None
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One threshold, as the owner wrote it. Relative and absolute increase must both be exceeded; ``max`` stands alone.

    Amounts are in the metric's SI base unit (FLOPs, MACs, bytes, seconds, parameters); the ``*_text`` fields keep what
    the owner typed, so that a report shows a limit in the owner's own unit.
    """

    targets: tuple[str, ...]
    metric: str
    max_increase: float | None = None
    max_increase_by: float | None = None
    max_decrease: float | None = None
    max_decrease_by: float | None = None
    max: float | None = None
    text: str = ""
    """The limit in words, e.g. ``+5%``, ``+5% and +2 M``, ``max 4.2 G``."""
    on_exceed: OnExceed = "fail"
    on_unknown: OnUnknown = "fail"
    on_inconclusive: OnExceed = "warn"
    on_missing_base: OnExceed = "warn"
    on_removed: OnExceed = "warn"
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A whole config file. ``source`` is its path inside the repository."""

    source: str
    targets: tuple[Target, ...]
    limits: tuple[Limit, ...] = ()
    accept_label: str | None = None
    threads: int | None = None
    seed: int = 0
    timeout_seconds: float = 600.0
    memory_limit_bytes: int | None = None
    max_seconds: float | None = None
    import_paths: tuple[str, ...] = ("src", ".")
    pass_env: tuple[str, ...] = ()
    environment: Literal["shared", "separate"] = "shared"
    install: tuple[str, ...] = ()
    submodules: bool = False
    lfs: bool = False
    comment: CommentMode = "always"
