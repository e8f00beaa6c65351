"""What the worker needs from the interpreter that the owner chose, and what it owes its parent."""

from __future__ import annotations

import gc
import os
import platform
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ci_action.core.spec import RESULT, Failure, WorkerSpec, a_failure, failed_result
from ci_action.worker.wire import write_result

OLDEST_TORCH = (2, 1)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def missing_torch() -> str | None:
    """One sentence if this interpreter cannot measure, else None."""
    where = f"{sys.executable} (Python {platform.python_version()})"
    advice = "install torch there, or name another interpreter with the input python"
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            return f"torch cannot be imported in {where}: {error}"
        return f"torch is not installed in {where}: {advice}"
    except (ImportError, OSError) as error:  # a broken build fails in the dynamic loader
        return f"torch cannot be imported in {where}: {error}"
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2] if part.isdigit())
    if version < OLDEST_TORCH:
        return f"torch {torch.__version__} in {where} is too old: 2.1 or newer is needed"
    return None


def environment_fault(reason: str) -> Failure:
    """The failure of every target of an interpreter that cannot measure."""
    return a_failure("environment", "EnvironmentFault", reason)


def report_missing(spec: WorkerSpec, reason: str) -> None:
    """Write the reason as the result of the only target."""
    for target in spec["targets"]:
        result = failed_result(target["id"], spec["side"], environment_fault(reason))
        write_result(result, Path(spec["out"]) / RESULT)


def die_with_parent() -> None:
    """Let Linux kill this process when the orchestrator dies, even by SIGKILL: no worker is left behind.

    What measured code turns into a daemon stays below this process, where the orchestrator finds and ends it.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    control = ctypes.CDLL(None).prctl
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    control(PR_SET_CHILD_SUBREAPER, 1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let numpy's OpenBLAS start no threads of its own when torch loads it: only a single thread can be forked."""
    name = "OPENBLAS_NUM_THREADS"
    given = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[name]
        else:
            os.environ[name] = given


@contextmanager
def without_collections() -> Iterator[None]:
    """Import torch without collecting cycles: there is next to nothing to collect, and looking takes a sixth of it."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
