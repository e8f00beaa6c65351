"""Holds both sides' outputs against each other in a worker of base, and reads its verdict."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from ci_action.core.strict_json import parse_json
from ci_action.edges.workers.death import cause
from ci_action.edges.workers.watch import WatchedProcess
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from ci_action.core.config.entries import OutputCheck
    from ci_action.core.spec import WorkerSpec
    from ci_action.core.timing.evidence import OutputVerdict
    from ci_action.edges.workers.lockstep import WorkerPlace

SKIPPED: OutputVerdict = {"method": "skip", "verdict": "not_run", "message": "the owner asked for no check"}
POLL_SECONDS = 0.05


def check_outputs(check: OutputCheck, base: WorkerSpec, outputs: Path, place: WorkerPlace) -> OutputVerdict:
    """Run base's check over ``outputs/base`` and ``outputs/head``. A check that cannot answer has not passed."""
    if check.is_skipped:
        return SKIPPED
    folder = Path(tempfile.mkdtemp(prefix="check-", dir=place.scratch))
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
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    out = folder / "verdict.json"
    process = WatchedProcess(
        [place.interpreters["base"].python, "-P", "-m", "ci_action.worker.check", str(folder / "spec.json"), str(out)],
        cwd=Path(base["root"]),
        environment=place.interpreters["base"].environment,
        output=folder / "output.txt",
    )
    try:
        message = _wait(process, place)
    finally:
        process.kill()
    return _verdict(out, "tolerances" if check.callable is None else "callable", message)


def _wait(process: WatchedProcess, place: WorkerPlace) -> str:
    """Wait for the end; give what went wrong, or nothing."""
    began = monotonic()
    while process.returncode is None:
        used = process.look()
        if place.limits.memory_bytes is not None and used > place.limits.memory_bytes:
            return "the output check was stopped at the memory-limit"
        if monotonic() - began > place.limits.timeout_seconds:
            return "the output check did not end within timeout-seconds"
        sleep(POLL_SECONDS)
    return "" if process.returncode == 0 else f"output check: {cause(process.returncode, process.peak_bytes)}"


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
