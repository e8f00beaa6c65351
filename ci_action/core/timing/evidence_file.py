"""Benchmark evidence that comes from a worker or a file, proven whole before anything is computed from it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from ci_action.core.timing.evidence import (
    EVIDENCE_VERSION,
    BenchmarkEvidence,
    BenchmarkFailure,
    OutputVerdict,
    SideEvidence,
)
from ci_action.core.timing.instructions import GAPS, InstructionCounts
from ci_action.core.timing.rounds import read_round
from ci_action.errors import EvidenceError
from torchscan.report.benchmark import BenchmarkContext

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ROUNDS = 400
"""More than any config may ask for. The exact tests grow with the cube of the pairs."""

_PEAK_BYTES = ("baseline_bytes", "peak_bytes", "delta_bytes")
_MACHINE = ("load", "steal_share", "frequency_hertz")


def read_evidence(raw: Any) -> BenchmarkEvidence:
    """Give one target's evidence as it is, once every part that a verdict rests on has been checked.

    Raises:
        EvidenceError: a part is missing, of another type, or not a number that a measurement can give.
    """
    _keys(raw, BenchmarkEvidence.__annotations__, "benchmark evidence")
    if raw["version"] != EVIDENCE_VERSION:
        raise EvidenceError(f"benchmark evidence is of a version other than {EVIDENCE_VERSION}")
    _check(isinstance(raw["id"], str) and type(raw["seed"]) is int, "id or seed")
    _check(raw["mode"] in ("lockstep", "alternating"), "mode")
    _check(_is_count(raw["planned_pairs"]), "planned_pairs")
    rounds = _items(raw["rounds"], "rounds")
    _check(len(rounds) <= MOST_ROUNDS, "rounds")
    for item in rounds:
        read_round(item)
    for side in ("base", "head"):
        if raw[side] is not None:
            _check_side(raw[side])
    _check_verdict(raw["output_check"])
    for state in _items(raw["machine"], "machine"):
        _keys(state, _MACHINE, "machine")
        _check(all(value is None or _is_number(value) for value in state.values()), "machine")
    if raw["failure"] is not None:
        _check_failure(raw["failure"])
    _check(all(isinstance(note, str) for note in _items(raw["notes"], "notes")), "notes")
    return cast("BenchmarkEvidence", raw)


def _check_side(side: Any) -> None:
    optional = {"instructions"} - set(side) if isinstance(side, dict) else set()
    _keys(side, set(SideEvidence.__annotations__) - optional, "a side's evidence")
    context = side["context"]
    _keys(context, BenchmarkContext.__annotations__, "context")  # a TypedDict's annotations hold its parent's
    _check(
        _is_positive(context["work_units"])
        and 1e-12 < context["work_units"] < 1e18
        and isinstance(context["work_unit"], str),
        "work_units",
    )
    _check(side["inputs"] is None or isinstance(side["inputs"], dict), "inputs")
    _check(all(map(_is_positive, _items(side["first_call_seconds"], "first_call_seconds"))), "first_call_seconds")
    _check(all(map(_is_count, _items(side["rss_bytes"], "rss_bytes"))), "rss_bytes")
    for peak in _items(side["memory"], "memory"):
        _check(isinstance(peak, dict) and all(_is_count(peak.get(key)) for key in _PEAK_BYTES), "memory")
        _check(isinstance(peak.get("metric"), str), "memory")
    if "instructions" in side:
        _check_instructions(side["instructions"])


def _check_instructions(found: Any) -> None:
    _keys(found, InstructionCounts.__annotations__, "instructions")
    counts = _items(found["counts"], "instructions")
    _check(all(type(count) is int and 0 < count < 1 << 63 for count in counts), "instructions")
    _check(found["gap"] in GAPS if not counts else found["gap"] == "", "instructions")


def _check_verdict(verdict: Any) -> None:
    _keys(verdict, OutputVerdict.__annotations__, "output_check")
    _check(verdict["method"] in ("skip", "tolerances", "callable"), "output_check")
    _check(
        verdict["verdict"] in ("passed", "failed", "not_run") and isinstance(verdict["message"], str), "output_check"
    )


def _check_failure(failed: Any) -> None:
    _keys(failed, BenchmarkFailure.__annotations__, "failure")
    inner = failed["failure"]
    _check(failed["side"] in ("base", "head") and _is_count(failed["round"]), "failure")
    _check(
        isinstance(inner, dict) and all(isinstance(inner.get(key), str) for key in ("stage", "type", "message")),
        "failure",
    )


def _keys(record: Any, expected: Iterable[str], where: str) -> None:
    if not isinstance(record, dict) or set(record) != set(expected):
        raise EvidenceError(f"{where} must have exactly the keys {', '.join(sorted(expected))}")


def _items(value: Any, where: str) -> list[Any]:
    _check(isinstance(value, list), where)
    return cast("list[Any]", value)


def _check(is_right: bool, where: str) -> None:
    if not is_right:
        raise EvidenceError(f"benchmark evidence is malformed at {where}")


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0
