"""Real workers of one side, for tests that bring their own models."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ci_action.core.spec import SPEC_VERSION, TargetResult, WorkerSpec
from ci_action.edges.workers.child import ChildMeasurer


def spec(root: Path, *factories: str, side: str = "head", **target: str) -> WorkerSpec:
    return {
        "version": SPEC_VERSION,
        "side": side,  # type: ignore[typeddict-item]
        "root": str(root),
        "worktree": str(root),
        "checkout": str(root.parent / "checkout"),
        "import_paths": ["src", "."],
        "out": "",
        "seed": 0,
        "threads": 1,
        "targets": [
            {  # type: ignore[typeddict-item]
                "index": index,
                "id": factory.rpartition(":")[2],
                "factory": factory if ":" in factory else f"bench/models.py:{factory}",
                "analysis": "full",
                "device": "cpu",
                **target,
            }
            for index, factory in enumerate(factories)
        ],
    }


def measurer(tmp_path: Path, **options: object) -> ChildMeasurer:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    given = {"python": sys.executable, "scratch": scratch, "environ": os.environ, **options}
    return ChildMeasurer(**given)  # type: ignore[arg-type]


def measured(tmp_path: Path, one: WorkerSpec, **options: object) -> list[TargetResult]:
    return measurer(tmp_path, **options).measure([one], parallel=True)[0]
