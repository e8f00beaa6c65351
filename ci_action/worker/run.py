"""One side's targets, one after the other: load, build, analyse, check whose code ran, write the result."""

from __future__ import annotations

import gc
from pathlib import Path
from time import perf_counter

import torch

from ci_action.core.spec import SPEC_VERSION, Failure, Stage, TargetResult, TargetSpec, WorkerSpec
from ci_action.worker.defaults import defaults_restored
from ci_action.worker.failure import describe, is_our_own
from ci_action.worker.isolation import foreign_modules
from ci_action.worker.load import Factory, load_factory
from ci_action.worker.missing import place_in_checkout
from ci_action.worker.seeding import seed_everything
from ci_action.worker.target import build, with_arguments
from ci_action.worker.wire import write_result
from torchscan.crawl.crawl import crawl_module
from torchscan.report.analysis import AnalysisReport


def run_targets(spec: WorkerSpec) -> None:
    """Measure each target of a side and write ``<index>.json`` for it, whatever the model does."""
    if spec["threads"] is not None:
        torch.set_num_threads(spec["threads"])
    out = Path(spec["out"])
    for target in spec["targets"]:
        (out / f"{target['index']}.begun").touch()  # a death from here on is this target's
        write_result(run_target(spec, target), out / f"{target['index']}.json")
        gc.collect()  # the next model may need the memory of this one


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
    except BaseException as error:  # noqa: BLE001 # sys.exit() in a model must not end the other targets
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
    with defaults_restored():
        return _built_and_analysed(factory, spec, target, progress)


def _built_and_analysed(
    factory: Factory, spec: WorkerSpec, target: TargetSpec, progress: _Progress
) -> AnalysisReport | None:
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
    more = f"; {len(foreign) - 1} more modules likewise" if len(foreign) > 1 else ""
    return {
        "stage": "isolation",
        "type": "IsolationError",
        "message": f"{spec['side']} {foreign[0]}{more}",
        "frames": foreign[1:4],
    }
