"""What the machine was doing while something was timed: evidence for a reader, never a correction of a number."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from ci_action.core.timing.evidence import MachineState


class MachineWatch:
    """Reads load, stolen time and clock between rounds; stolen time is a share of the time since the last look."""

    def __init__(self) -> None:
        self._ticks = _processor_ticks()

    def state(self) -> MachineState:
        """Give the state since the last look. What the platform does not tell is None."""
        before, self._ticks = self._ticks, _processor_ticks()
        total = self._ticks[0] - before[0]
        return {
            "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
            "steal_share": (self._ticks[1] - before[1]) / total if total > 0 else None,
            "frequency_hertz": _frequency_hertz(),
        }


def available_bytes() -> int:
    """Memory that new processes could take without swapping."""
    return psutil.virtual_memory().available


def _processor_ticks() -> tuple[float, float]:
    """All ticks so far, and the stolen ones among them; Linux only."""
    stat = Path("/proc/stat")
    if not stat.is_file():
        return 0.0, 0.0
    ticks = [float(word) for word in stat.read_text(encoding="ascii").partition("\n")[0].split()[1:9]]
    return sum(ticks), ticks[7] if len(ticks) > 7 else 0.0


def _frequency_hertz() -> float | None:
    with suppress(Exception):  # absent in many virtual machines, and psutil raises what the platform raises
        found = psutil.cpu_freq()
        return float(found.current) * 1e6 or None
    return None
