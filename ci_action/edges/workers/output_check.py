"""Holds both sides' outputs against each other in a worker of base, and reads its verdict."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ci_action.core.strict_json import parse_json
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.edges.workers.death import cause
from ci_action.edges.workers.watch import WatchedProcess
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from ci_action.core.config.entries import OutputCheck
    from ci_action.core.spec import WorkerSpec
    from ci_action.core.timing.evidence import OutputVerdict
    from ci_action.edges.workers.place import WorkerPlace

VERDICT_BYTES = 1 << 20
Method = Literal["tolerances", "callable"]
SKIPPED: OutputVerdict = {"method": "skip", "verdict": "not_run", "message": "the owner asked for no check"}


def check_outputs(check: OutputCheck, base: WorkerSpec, outputs: Path, place: WorkerPlace) -> OutputVerdict:
    """Run base's check over ``outputs/base`` and ``outputs/head``. A check that cannot answer has not passed."""
    if check.is_skipped:
        return SKIPPED
    method: Method = "tolerances" if check.callable is None else "callable"
    try:
        folder = Path(tempfile.mkdtemp(prefix="check-", dir=place.scratch))
        process, out = _started(check, base, outputs, place, folder)
    except OSError as error:  # measured code may have removed what it needs
        return _failed(method, f"the output check could not be started: {error.strerror}")
    try:
        breach = process.wait(place.limits, owed="verdict", is_done=out.exists)  # what it does after that is its own
        code = process.returncode
    finally:
        process.kill()
    if breach:
        return _failed(method, f"output check: {breach.message}")
    if code and not out.exists():
        return _failed(method, f"output check: {cause(code, process.peak_bytes)}")
    return _verdict(out, method)


def _started(
    check: OutputCheck, base: WorkerSpec, outputs: Path, place: WorkerPlace, folder: Path
) -> tuple[WatchedProcess, Path]:
    spec = {
        "root": base["root"],
        "worktree": base["worktree"],
        "checkout": base["checkout"],
        "import_paths": base["import_paths"],
        "base_outputs": str(outputs / "base"),
        "head_outputs": str(outputs / "head"),
        "callable": check.callable,
        "rtol": check.rtol or 0.0,
        "atol": check.atol or 0.0,
    }
    file, out = folder / "spec.json", folder / "verdict.json"
    file.write_text(json.dumps(spec), encoding="utf-8")
    interpreter = place.interpreters["base"]
    process = WatchedProcess(
        [interpreter.python, "-P", "-m", "ci_action.worker.check", str(file), str(out)],
        cwd=base["root"],
        environment=interpreter.environment,
        output=folder / "output.txt",
    )
    return process, out


def _failed(method: Method, message: str) -> OutputVerdict:
    return {"method": method, "verdict": "failed", "message": message}


def _verdict(out: Path, method: Method) -> OutputVerdict:
    nothing = _failed(method, "the output check left no verdict")
    try:
        verdict = parse_json(read_untrusted(out, VERDICT_BYTES))
    except (EvidenceError, OSError):
        return nothing
    if not isinstance(verdict, dict) or verdict.get("verdict") not in ("passed", "failed"):
        return nothing
    return {"method": method, "verdict": verdict["verdict"], "message": str(verdict.get("message", ""))}
