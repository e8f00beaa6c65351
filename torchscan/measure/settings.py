"""What a caller asks of a measurement, checked before the workload runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

METRICS = ("flops", "latency", "throughput", "memory")
"""What ``measure_workload`` can be asked for, in report order."""

FORMULAS = ("native", "extended")
"""Which operator formulas ``measure_flops`` counts with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingSettings:
    """How a workload is timed, and what one call of it completes."""

    work_units: int | float
    work_unit: str
    warmup: int
    min_run_time: float
    min_repeats: int

    def __post_init__(self) -> None:
        _check_number("work_units", self.work_units, "a finite number above 0", above=0)
        if not isinstance(self.work_unit, str):
            raise TypeError(f"work_unit must be a string such as 'samples', got {_kind(self.work_unit)}")
        if not self.work_unit.strip() or not self.work_unit.isprintable():
            raise ValueError(f"work_unit must be printable text such as 'samples', got {self.work_unit!r}")
        check_count("warmup", self.warmup, minimum=0)
        _check_number("min_run_time", self.min_run_time, "finite seconds above 0", above=0)
        # One block has no spread: its IQR would read 0, which is a claim that nobody measured.
        check_count("min_repeats", self.min_repeats, minimum=2)


def check_workload(workload: Any) -> None:
    """Refuse what cannot be called. A model is no workload: it needs its arguments."""
    if not callable(workload):
        raise TypeError(f"workload must be a callable without arguments, got {_kind(workload)}")


def check_flag(name: str, value: Any) -> None:
    """Refuse anything but True and False, so that a misplaced argument is not taken for a yes."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {_kind(value)}")


def check_formulas(formulas: Any) -> None:
    """Refuse anything but a known set of operator formulas."""
    if formulas not in FORMULAS:
        raise ValueError(f"formulas must be one of {', '.join(FORMULAS)}; got {formulas!r}")


def check_metrics(metrics: Any) -> tuple[str, ...]:
    """Give the requested metrics in report order, each once."""
    accepted = ", ".join(METRICS)
    if isinstance(metrics, str) or not isinstance(metrics, Sequence | set | frozenset):
        raise TypeError(f"metrics must be a sequence of names out of {accepted}; got {_kind(metrics)}")
    unknown = [name for name in metrics if name not in METRICS]
    if unknown:
        raise ValueError(f"metrics accepts {accepted}; got {', '.join(map(repr, unknown))}")
    return tuple(name for name in METRICS if name in metrics)


def check_command(name: str, command: Any) -> list[str]:
    """Give the command as a list: program and arguments, never a line for a shell."""
    if isinstance(command, str | bytes) or not isinstance(command, Sequence):
        raise TypeError(
            f"{name} must be a sequence of strings such as ['python', 'run.py'] (no shell), got {_kind(command)}"
        )
    words = list(command)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} must hold strings only, got an item of type {_kind(word)}")
        if "\0" in word:
            raise ValueError(f"{name} must hold strings without NUL characters")
    if not words or not words[0]:
        raise ValueError(f"{name} must name a program to run, got {words!r}")
    return words


def check_count(name: str, value: Any, *, minimum: int) -> None:
    """Refuse anything but an int of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int of at least {minimum}, got {_kind(value)}")
    if value < minimum:
        raise ValueError(f"{name} must be an int of at least {minimum}, got {value}")


def _check_number(name: str, value: Any, accepted: str, *, above: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be {accepted}, got {_kind(value)}")
    if not isfinite(value) or value <= above:
        raise ValueError(f"{name} must be {accepted}, got {value}")


def _kind(value: Any) -> str:
    return type(value).__name__
