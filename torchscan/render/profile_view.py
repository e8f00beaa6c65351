"""Operator profiles: the largest self times, and what moved between two of them."""

from __future__ import annotations

from dataclasses import dataclass

from torchscan.render.units import NONE, delta, share, text
from torchscan.report.benchmark import ProfileReport, ProfileRow

MOST_BARS = 10
MOST_CHANGES = 15


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of an instrumented pass. ``length`` is its bar, a share of the largest."""

    name: str
    calls: int
    cpu: str
    device: str
    share: str
    length: float


@dataclass(frozen=True, slots=True)
class Moved:
    """An operator on both sides, or on one."""

    name: str
    before: str
    after: str
    change: str
    direction: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile's rows, and whether they are all."""

    rows: tuple[Operator, ...]
    bars: tuple[Operator, ...]
    by: str
    hidden: int


def profile_view(profile: ProfileReport) -> Profile:
    """Rank operators by device self time where there is any, else by CPU self time."""
    by_device = any(row["device_self_seconds"] for row in profile["rows"])
    ranked = sorted(profile["rows"], key=lambda row: -_seconds(row, by_device=by_device))
    whole = sum(_seconds(row, by_device=by_device) for row in ranked)
    longest = max((_seconds(row, by_device=by_device) for row in ranked), default=0.0)
    rows = tuple(
        Operator(
            name=row["operator"],
            calls=row["calls"],
            cpu=text(row["cpu_self_seconds"], "seconds"),
            device=NONE if row["device_self_seconds"] is None else text(row["device_self_seconds"], "seconds"),
            share=share(_seconds(row, by_device=by_device), whole),
            length=round(100 * _seconds(row, by_device=by_device) / longest, 2) if longest else 0.0,
        )
        for row in ranked
    )
    hidden = max(0, profile["total_operators"] - len(rows))
    return Profile(rows, rows[:MOST_BARS], "device" if by_device else "CPU", hidden)


def profile_changes(before: ProfileReport, after: ProfileReport) -> list[Moved]:
    """List the operators whose self time moved most. Instrumented times describe; they prove nothing."""
    old, new = _by_name(before), _by_name(after)
    moved = []
    for name in dict.fromkeys([*new, *old]):
        one, other = old.get(name), new.get(name)
        change = (other or 0.0) - (one or 0.0)
        moved.append((abs(change), Moved(name, _text(one), _text(other), *_words(one, other))))
    moved.sort(key=lambda each: -each[0])
    return [each for size, each in moved if size > 0][:MOST_CHANGES]


def _words(before: float | None, after: float | None) -> tuple[str, str]:
    if before is None or after is None:
        return ("new" if before is None else "removed"), ""
    return delta(before, after, "seconds"), "worse" if after > before else "better"


def _text(seconds: float | None) -> str:
    return "absent" if seconds is None else text(seconds, "seconds")


def _by_name(profile: ProfileReport) -> dict[str, float]:
    by_device = any(row["device_self_seconds"] for row in profile["rows"])
    found: dict[str, float] = {}
    for row in profile["rows"]:  # one operator may stand once per input shape
        found[row["operator"]] = found.get(row["operator"], 0.0) + _seconds(row, by_device=by_device)
    return found


def _seconds(row: ProfileRow, *, by_device: bool) -> float:
    return (row["device_self_seconds"] or 0.0) if by_device else row["cpu_self_seconds"]
