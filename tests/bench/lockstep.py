"""How often lockstep pairs are right: the same code on both sides, or a known share of more work in the head.

    python tests/bench/lockstep.py --runs 60                 # A/A: no run may fail
    python tests/bench/lockstep.py --runs 20 --extra 0.15    # at least 19 must be found
    python tests/bench/lockstep.py --runs 20 --extra 0.10    # at least 8

The model is a small CNN of 20 equal convolutions; ``--extra 0.15`` gives the head 3 more. Beside the pairs'
verdict stands what simpler rules make of the same rounds: the first pair alone, and the medians of all blocks.

Eight pairs of 0.2 s a side take about 15 s. The Action's own default, ten of 0.4 s, tells more and takes longer.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median, stdev
from time import perf_counter

from ci_action.core.config.entries import Benchmark, Limit
from ci_action.core.spec import WorkerSpec
from ci_action.core.timing import lockstep as schedule
from ci_action.core.timing.evidence import BenchmarkEvidence
from ci_action.core.timing.lockstep import BenchmarkJob
from ci_action.core.timing.noise import interval, word_under
from ci_action.core.timing.rounds import log_ratios, read_round
from ci_action.core.timing.wilcoxon import estimate_shift
from ci_action.edges.workers.child import ChildMeasurer

LAYERS = 20
PAIRS, SIDE_SECONDS = 8, 0.2
LIMIT = Limit(targets=("*",), metric="latency", max_increase=0.05)
MODEL = """
import torch
from torch import nn

def cnn():
    layers = [layer for _ in range({layers}) for layer in (nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())]
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return model, (torch.randn(1, 3, 64, 64),)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--side-seconds", type=float, default=SIDE_SECONDS, help="what a side of a pair is timed for")
    parser.add_argument("--extra", type=float, default=0.0, help="share of more work in the head")
    # One by default: where neighbours take the other cores, two threads mostly measure their barrier.
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    schedule.SIDE_SECONDS = arguments.side_seconds
    counts: dict[str, Counter[str]] = {"pairs": Counter(), "first pair": Counter(), "all blocks": Counter()}
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), "base", LAYERS)
        _write(Path(folder), "head", round(LAYERS * (1 + arguments.extra)))
        for run in range(arguments.runs):
            identity = f"run {run}"
            began = perf_counter()
            found = timed(
                Path(folder), identity, python=arguments.python, pairs=arguments.pairs, threads=arguments.threads
            )
            found_words = words(found)
            for rule, word in found_words.items():
                counts[rule][word] += 1
            ratios = log_ratios(found["rounds"], "pair")
            print(
                f"{identity}: {found_words}, sd of a pair {stdev(ratios):.3f}, {perf_counter() - began:.0f} s",
                flush=True,
            )
    print(json.dumps({rule: dict(words) for rule, words in counts.items()}, indent=1))


def _write(folder: Path, side: str, layers: int) -> None:
    root = folder / side
    root.mkdir()
    (root / "models.py").write_text(MODEL.format(layers=layers))


def timed(folder: Path, identity: str, *, python: str, pairs: int = PAIRS, threads: int = 1) -> BenchmarkEvidence:
    """Time ``folder/base`` and ``folder/head`` in lockstep, without controls. ``identity`` draws the order."""
    job = BenchmarkJob(
        id=identity,
        base=_side_spec(folder, "base", threads),
        head=_side_spec(folder, "head", threads),
        benchmark=Benchmark(pairs=pairs),
        needs_control=False,
        budget_seconds=None,
    )
    return ChildMeasurer(python=python, scratch=folder, environ=os.environ).benchmark([job])[identity]


def _side_spec(folder: Path, side: str, threads: int) -> WorkerSpec:
    """Give what a worker of ``folder/side`` is to build."""
    root = folder / side
    return {
        "version": 1,
        "side": side,  # type: ignore[typeddict-item]
        "root": str(root),
        "worktree": str(root),
        "checkout": str(folder / "checkout"),
        "import_paths": ["."],
        "out": "",
        "seed": 0,
        "threads": threads,
        "targets": [{"index": 0, "id": "cnn", "factory": "models.py:cnn", "analysis": "off", "device": "cpu"}],
    }


def words(found: BenchmarkEvidence) -> dict[str, str]:
    """Say what each rule makes of the same rounds."""
    if found["failure"] is not None:
        raise SystemExit(f"{found['failure']['side']}: {found['failure']['failure']['message']}")
    ratios = log_ratios(found["rounds"], "pair")
    shift = estimate_shift(ratios, 0.05)
    pairs = [read_round(item) for item in found["rounds"]]
    base = median(value for pair in pairs for value in pair.a_seconds)
    head = median(value for pair in pairs for value in pair.b_seconds)
    single = median(pairs[0].b_seconds) / median(pairs[0].a_seconds)
    return {
        "pairs": "too few pairs" if shift is None else word_under(LIMIT, base, interval(shift, len(ratios))).value,
        "first pair": "regressed" if single > 1.05 else "passed",
        "all blocks": "regressed" if head / base > 1.05 else "passed",
    }


if __name__ == "__main__":
    main()
