"""Why a process ended, in words."""

from __future__ import annotations

import signal

GIB = 1 << 30


def cause(code: int, peak_bytes: int) -> str:
    """Say what an exit code means for a process that owed a result."""
    after = f" after {shown_bytes(peak_bytes)} of memory" if peak_bytes else ""
    if code >= 0:
        return f"the process ended with exit code {code} before it had a result"
    number = -code
    name = next((item.name for item in signal.Signals if item.value == number), f"signal {number}")
    return f"killed by {name}{after}{', probably out of memory' if name == 'SIGKILL' else ''}"


def shown_bytes(amount: int) -> str:
    """Write bytes in MiB or GiB."""
    return f"{amount / GIB:.1f} GiB" if amount >= GIB // 10 else f"{amount / (1 << 20):.0f} MiB"
