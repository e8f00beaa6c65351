"""Holds both sides' outputs against each other in a worker of base, and reads its verdict."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.core.strict_json import parse_json
from ci_action.edges.workers.death import cause
from ci_action.edges.workers.watch import WatchedProcess
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from ci_action.core.config.entries import OutputCheck
    from ci_action.core.spec import WorkerSpec
    from ci_action.core.timing.evidence import OutputVerdict
    from ci_action.edges.workers.place import WorkerPlace

SKIPPED: OutputVerdict = {"method": "skip", "verdict": "not_run", "message": "the owner asked for no check"}


def check_outputs(check: OutputCheck, base: WorkerSpec, outputs: Path, place: WorkerPlace) -> OutputVerdict:
    """Run base's check over ``outputs/base`` and ``outputs/head``. A check that cannot answer has not passed."""
    if check.is_skipped:
        return SKIPPED
    folder = Path(tempfile.mkdtemp(prefix="check-", dir=place.scratch))
    spec = {
        "root": base["root"],
        "import_paths": base["import_paths"],
        "base_outputs": str(outputs / "base"),
        "head_outputs": str(outputs / "head"),
        "callable": check.callable,
        "rtol": check.rtol or 0.0,
        "atol": check.atol or 0.0,
    }
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    out = folder / "verdict.json"
    process = WatchedProcess(
        [place.interpreters["base"].python, "-P", "-m", "ci_action.worker.check", str(folder / "spec.json"), str(out)],
        cwd=Path(base["root"]),
        environment=place.interpreters["base"].environment,
        output=folder / "output.txt",
    )
    try:
        breach = process.wait(place.limits, owed="verdict", is_done=out.exists)  # what it does after that is its own
        code = process.returncode
    finally:
        process.kill()
    message = f"output check: {breach.message}" if breach else ""
    if not (breach or out.exists()) and code:
        message = f"output check: {cause(code, process.peak_bytes)}"
    return _verdict(out, "tolerances" if check.callable is None else "callable", message)


def _verdict(out: Path, method: str, message: str) -> OutputVerdict:
    failed: OutputVerdict = {
        "method": "callable" if method == "callable" else "tolerances",
        "verdict": "failed",
        "message": message or "the output check left no verdict",
    }
    if message or out.is_symlink() or not out.is_file():
        return failed
    try:
        verdict = parse_json(out.read_bytes())
    except EvidenceError:
        return failed
    if not isinstance(verdict, dict) or verdict.get("verdict") not in ("passed", "failed"):
        return failed
    return {**failed, "verdict": verdict["verdict"], "message": str(verdict.get("message", ""))}
