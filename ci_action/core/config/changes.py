"""What a pull request changes about the keys that base owns, in sentences for the report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci_action.core.config.entries import Config, Limit

_RUN_KEYS = (
    "accept_label",
    "threads",
    "seed",
    "timeout_seconds",
    "memory_limit_bytes",
    "max_seconds",
    "pass_env",
    "environment",
    "submodules",
    "lfs",
    "comment",
)
_SPELLING = {"memory_limit_bytes": "memory-limit"}
AFTER_MERGE = "changed in this pull request; takes effect after the merge."


MOVED_ON = "The base branch has changed its config since this branch left it. The limits of its tip count."


def config_notes(base: Config | None, head: Config | None, own_base: Config | None = None) -> tuple[str, ...]:
    """Name each base-owned key that head writes differently. Names only: values may come from anybody.

    ``base`` judges; ``own_base`` is what head's branch started from, where that is another commit.
    """
    if own_base is not None and base is not None and _without_lines(own_base) != _without_lines(base):
        return (MOVED_ON, *config_notes(own_base, head))
    if base is None:
        return (
            "Base has no config: this run reports and judges nothing. Limits count once they are on the base branch.",
        )
    if head is None:
        return ("This pull request removes the config: every target counts as removed.",)
    changed = [
        _SPELLING.get(key, key.replace("_", "-")) for key in _RUN_KEYS if getattr(base, key) != getattr(head, key)
    ]
    if _timeless(base.limits) != _timeless(head.limits):
        changed.insert(0, "limits")
    heads = {target.id: target for target in head.targets}
    both = [(target, heads[target.id]) for target in base.targets if target.id in heads]
    changed += [
        key for key in ("benchmark", "device", "paths") if any(getattr(b, key) != getattr(h, key) for b, h in both)
    ]
    return tuple(f"{key}: {AFTER_MERGE}" for key in changed)


def _without_lines(config: Config) -> Config:
    return replace(config, source="", limits=_timeless(config.limits))


def _timeless(limits: tuple[Limit, ...]) -> tuple[Limit, ...]:
    """A limit that only moved to another line is the same limit."""
    return tuple(replace(limit, line=None) for limit in limits)
