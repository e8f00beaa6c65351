"""An exception of the measured code as a value: stage, class, message, and frames of the owner's own files."""

from __future__ import annotations

import traceback
from pathlib import Path

from ci_action.core.spec import Failure, Stage
from ci_action.worker.load import FactoryError
from ci_action.worker.wire import cut

FRAMES = 10


def describe(error: BaseException, stage: Stage, root: Path) -> Failure:
    """Say what went wrong without absolute paths: they differ between the sides and say nothing to a reader."""
    walked = traceback.extract_tb(error.__traceback__)
    frames = [
        f'File "{Path(frame.filename).resolve().relative_to(root).as_posix()}", line {frame.lineno}, in {frame.name}'
        for frame in walked
        if Path(frame.filename).resolve().is_relative_to(root)
    ]
    failure: Failure = {
        "stage": stage,
        "type": type(error).__name__,
        "message": cut(_message(error).replace(f"{root}/", "")),
        "frames": frames[-FRAMES:],
    }
    rows = getattr(error, "torchscan_rows", None)  # what the analysis had seen when the forward broke off
    if isinstance(rows, list):
        failure["calls_done"] = sum(row["output"].get("kind") != "failed" for row in rows)
    return failure


def is_our_own(error: BaseException) -> bool:
    """Whether the error arose in the analysis itself, not in the model's code."""
    walked = traceback.extract_tb(error.__traceback__)
    place = Path(walked[-1].filename).parts if walked else ()
    return "torchscan" in place and "torch" not in place


def _message(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"the code called exit({error.code!r})"
    if isinstance(error, FactoryError):
        return str(error)
    try:
        return str(error)
    except Exception:  # noqa: BLE001 # a hostile or broken __str__ must not hide the failure
        return "(the exception cannot be printed)"
