"""What a lockstep worker may answer, checked as it comes: nonsense is the failure of the side that said it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ci_action.core.timing.evidence import EVIDENCE_VERSION
from ci_action.core.timing.evidence_file import read_evidence
from ci_action.core.timing.lockstep import Ready
from ci_action.errors import EvidenceError
from torchscan.report.benchmark import BenchmarkContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHORTEST_SECONDS, LONGEST_SECONDS = 1e-11, 1e9
"""What a clock can give; a shorter call would be repeated more often than a round may hold."""


def is_sound(name: str, value: Any) -> bool:
    """Check whether the value of an answer can stand in the evidence."""
    return _CHECKS[name](value)


def _is_duration(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and SHORTEST_SECONDS < value < LONGEST_SECONDS


def _is_ready(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != set(Ready.__annotations__):
        return False
    first_call = [value["first_call_seconds"]]
    return _can_stand(context=value["context"], inputs=value["inputs"], first_call_seconds=first_call)


def _can_stand(**parts: Any) -> bool:
    """Check parts of a side by what reads the whole evidence, with nothing at the place of the others."""
    context = {**dict.fromkeys(BenchmarkContext.__annotations__), "work_units": 1, "work_unit": "calls"}
    side = {"context": context, "inputs": None, "first_call_seconds": [], "memory": [], "rss_bytes": [], **parts}
    try:
        read_evidence({**_NOTHING, "head": side})
    except EvidenceError:
        return False
    return True


_NOTHING: Mapping[str, Any] = MappingProxyType(
    {
        "version": EVIDENCE_VERSION,
        "id": "",
        "seed": 0,
        "mode": "lockstep",
        "planned_pairs": 0,
        "rounds": [],
        "base": None,
        "head": None,
        "output_check": {"method": "skip", "verdict": "not_run", "message": ""},
        "machine": [],
        "failure": None,
        "notes": [],
    }
)
_CHECKS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "ready": _is_ready,
        "call_seconds": _is_duration,
        "seconds": _is_duration,
        "peak": lambda value: _can_stand(memory=[value]),
        "outputs": lambda value: value is None,
        "rss_bytes": lambda value: _can_stand(rss_bytes=[value]),
        "instructions": lambda value: bool(value) and _can_stand(instructions={"counts": value, "gap": ""}),
    }
)
