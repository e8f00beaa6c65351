"""Stages in turn as steps of one job: each gets what a runner would hand on from those before it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from support.rig.runner_language import file_entries

from ci_action.main import main

HANDED = {
    "digest": "TORCHSCAN_PLAN_DIGEST",
    "results": "TORCHSCAN_RESULTS_DIGEST",
    "exit-code": "TORCHSCAN_EXIT_CODE",
    "headline": "TORCHSCAN_HEADLINE",
}
"""Step output to the variable in which action.yml hands it to a later step."""


def stage(name: str, out: Path | str, *arguments: str) -> int:
    """Run one stage, and remember its outputs for the next one."""
    code = main([name, "--out", str(out), *arguments])
    file = Path(os.environ.get("GITHUB_OUTPUT", os.devnull))
    outputs = file_entries(file.read_text(encoding="utf-8")) if file.is_file() else {}
    os.environ |= {variable: outputs[output] for output, variable in HANDED.items() if output in outputs}
    return code


def stages(names: Iterable[str], out: Path | str) -> list[int]:
    """Run stages in turn."""
    return [stage(name, out) for name in names]
