"""The orchestrator starts quickly and without torch, beside what its own dependencies take in the same minute."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

DEPENDENCIES = "import click, jinja2, jsonschema, requests, psutil"
"""What the budget is a share of: one machine takes 0.2 s for it and 0.4 s an hour later, and ours with it."""


def processor_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-P", *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    ("statement", "share"),
    [
        ("import ci_action.main", 0.5),  # 0.2 seen
        ("import ci_action.commands.stages", 2.0),  # 1.4 to 1.6 seen, 1.5 to 1.7 in 0.3.0
    ],
)
def test_the_orchestrator_starts_within_its_budget(statement: str, share: float) -> None:
    bare, ours, theirs = (
        min(processor_seconds("-c", code) for _ in range(3)) for code in ("pass", statement, DEPENDENCIES)
    )
    assert ours - bare < share * (theirs - bare)


def test_no_stage_loads_torch() -> None:
    modules = ", ".join(f"ci_action.commands.{name}" for name in ("run", "stages", "check", "demo"))
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_a_timing_worker_loads_neither_the_analysis_nor_the_pages() -> None:
    # a run starts dozens of them, and each import is paid for by each
    code = (
        "import sys, ci_action.worker.lockstep, ci_action.worker.session; "
        "print([name for name in sys.modules if name.startswith(('torchscan.crawl', 'torchscan.render'))])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
