"""A target's result as its own process wrote it, proven whole: measured code could have written anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

from ci_action.core.measured_report import check_measured
from ci_action.core.spec import SPEC_VERSION, Failure, Side, Stage, TargetResult, a_failure, failed_result
from ci_action.core.strict_json import JsonLimits, parse_json
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from pathlib import Path

LARGE = JsonLimits(size_bytes=256 << 20, items=30_000_000)
"""A model of 50,000 modules is no attack: what must end is a result that would fill the memory."""


def read_result(file: Path, target_id: str, side: Side) -> TargetResult:
    """Return the result in ``file``, or a failure where it cannot be used. Nothing of what was found is repeated."""
    try:
        return whole_result(parse_json(read_untrusted(file, LARGE.size_bytes), LARGE), target_id, side)
    except (EvidenceError, OSError) as error:
        return failed_result(target_id, side, a_failure("worker", "MalformedResult", _sentence(error)))


def whole_result(result: Any, target_id: str, side: Side) -> TargetResult:
    """Return a result as it is, once every part of it has been checked. Raises EvidenceError."""
    if not isinstance(result, dict) or result.get("version") != SPEC_VERSION:
        raise EvidenceError("the result is of another version")
    if (result.get("id"), result.get("side")) != (target_id, side):
        raise EvidenceError("the result is of another target")
    if not {"report", "failure", "seconds"} <= set(result) <= set(TargetResult.__annotations__):
        raise EvidenceError("the result has other keys than a result")
    if type(result["seconds"]) not in (int, float):
        raise EvidenceError("the result does not say how long it took")
    if result["failure"] is not None:
        read_failure(result["failure"])
    if result["report"] is not None:
        try:
            check_measured(result["report"])
        except Exception:  # noqa: BLE001 # whatever it is, the report is not one of ours
            raise EvidenceError("its report is malformed") from None
    return cast("TargetResult", result)


def read_failure(failure: Any) -> Failure:
    """Return a failure as a worker told it. Raises EvidenceError."""
    optional = {"calls_done"}
    if not isinstance(failure, dict) or set(failure) - optional != set(Failure.__annotations__) - optional:
        raise EvidenceError("its failure has other keys than a failure")
    is_text = all(isinstance(failure[key], str) for key in ("type", "message"))
    frames = failure["frames"]
    if not (is_text and failure["stage"] in get_args(Stage) and isinstance(frames, list)):
        raise EvidenceError("its failure is malformed")
    if not all(isinstance(frame, str) for frame in frames) or type(failure.get("calls_done", 0)) is not int:
        raise EvidenceError("its failure is malformed")
    return cast("Failure", failure)


def _sentence(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the worker's result cannot be used: {reason}"
