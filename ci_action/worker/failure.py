"""An exception of the measured code as a value: stage, class, message, and frames of the owner's own files."""

from __future__ import annotations

import traceback
from pathlib import Path

from ci_action.core.spec import Failure, Stage
from ci_action.worker.load import FactoryError
from ci_action.worker.missing import explain_missing
from ci_action.worker.wire import cut

FRAMES = 10


def describe(error: BaseException, stage: Stage, root: Path, checkout: Path | None = None) -> Failure:
    """Return what went wrong without absolute paths: they differ between the sides and say nothing to a reader.

    ``checkout`` is what ``root`` was made from: what only it has was not committed.
    """
    frames = [
        f'File "{own}", line {line}, in {frame.f_code.co_name}'
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (own := _own_file(frame.f_code.co_filename, root))
    ]
    message = _message(error).replace(f"{root}/", "")
    hint = explain_missing(error, root, checkout) if checkout is not None else ""
    failure: Failure = {
        "stage": stage,
        "type": type(error).__name__,
        "message": cut(f"{message}; {hint}" if hint else message),
        "frames": frames[-FRAMES:],
    }
    rows = getattr(error, "torchscan_rows", None)  # what the analysis had seen when the forward broke off
    if isinstance(rows, list):
        failure["calls_done"] = sum(row["output"].get("kind") != "failed" for row in rows)
    return failure


def _own_file(name: str, root: Path) -> str:
    """Return the path of a frame's file below ``root``; empty where it is another file, or none.

    ``<frozen importlib._bootstrap>`` and what else a compiler was told would resolve to a file of the working folder.
    """
    if name.startswith("<") or "\0" in name:
        return ""
    path = (root / name).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) and path.is_file() else ""


def is_our_own(error: BaseException) -> bool:
    """Check whether the error arose in the analysis itself, not in the model's code."""
    walked = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    place = Path(walked[-1]).parts if walked else ()
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
