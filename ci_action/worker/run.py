"""One target in a process of its own: load, build, analyse, check whose code ran, write the result."""

from __future__ import annotations

import ctypes
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import torch

from ci_action.core.spec import (
    BEGUN,
    RESULT,
    SPEC_VERSION,
    Failure,
    Stage,
    TargetResult,
    TargetSpec,
    WorkerSpec,
    a_failure,
)
from ci_action.worker.failure import describe, is_our_own
from ci_action.worker.isolation import foreign_modules
from ci_action.worker.load import load_factory, prepend_import_paths
from ci_action.worker.missing import place_in_checkout
from ci_action.worker.seeding import seed_everything
from ci_action.worker.target import build, with_arguments
from ci_action.worker.wire import write_result
from torchscan.crawl.crawl import crawl_module
from torchscan.report.analysis import AnalysisReport


def run_and_exit(spec: WorkerSpec, target: TargetSpec, out: Path) -> NoReturn:
    """Measure one target, write its result and end this process at once.

    Threads, exit handlers and signal handlers of the measured code have no say in the end: the result is what counts.
    """
    code = 1
    try:
        prepend_import_paths(Path(spec["root"]), spec["import_paths"])
        if spec["threads"] is not None:
            torch.set_num_threads(spec["threads"])
        (out / BEGUN).touch()  # a death from here on is this target's
        write_result(run_target(spec, target), out / RESULT)
        code = 0
    except BaseException:  # noqa: BLE001 # it ends here, whatever the measured code made of it
        traceback.print_exc()
    finally:
        _exit_now(code)
    raise AssertionError("the process has ended")


def _exit_now(code: int, _exit: Callable[[int], NoReturn] = os._exit) -> NoReturn:
    """End without exit handlers, by the function that was there before the measured code could replace it."""
    try:
        if os.name == "posix":
            ctypes.CDLL(None).fflush(None)  # what compiled code has printed
    finally:
        _exit(code)


def run_target(spec: WorkerSpec, target: TargetSpec) -> TargetResult:
    """Measure one target. An error of the measured code becomes a failure with the stage where it arose."""
    began = perf_counter()
    progress = _Progress()
    report: AnalysisReport | None = None
    failure: Failure | None = None
    try:
        report = _analysed(spec, target, progress)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 # sys.exit() in a model is a failure with a name as well
        failure = describe(error, progress.stage, Path(spec["root"]).resolve(), place_in_checkout(spec))
    foreign = foreign_modules(
        Path(spec["root"]), Path(spec["worktree"]), Path(spec["checkout"]), spec["import_paths"], spec["side"]
    )
    if foreign:
        report, failure = None, _isolation_failure(spec, foreign)
    return {
        "version": SPEC_VERSION,
        "id": target["id"],
        "side": spec["side"],
        "report": report,
        "failure": failure,
        "seconds": round(perf_counter() - began, 6),
    }


class _Progress:
    """The stage that an error belongs to."""

    def __init__(self) -> None:
        self.stage: Stage = "load"


def _analysed(spec: WorkerSpec, target: TargetSpec, progress: _Progress) -> AnalysisReport | None:
    factory = load_factory(target["factory"], Path(spec["root"]))
    progress.stage = "build"
    seed_everything(spec["seed"])
    built = build(factory, target["device"])
    if target["analysis"] == "off":
        return None
    built = with_arguments(built)
    assert built.model is not None  # noqa: S101 # with_arguments has refused a target without a model
    progress.stage = "forward"
    try:
        return crawl_module(
            built.model,
            args=built.args,
            kwargs=built.kwargs,
            mode=target["analysis"],
            custom_modules=built.custom_modules,
            custom_mapping=built.custom_mapping,
        )
    except Exception as error:
        progress.stage = "analyse" if is_our_own(error) else "forward"
        raise


def _isolation_failure(spec: WorkerSpec, foreign: list[str]) -> Failure:
    others = len(foreign) - 1
    more = f"; {others} more module{'' if others == 1 else 's'} likewise" if others else ""
    return a_failure("isolation", "IsolationError", f"{spec['side']} {foreign[0]}{more}", foreign[1:4])
