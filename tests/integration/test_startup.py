"""The orchestrator starts quickly and without torch. Processor time is held, which a busy machine does not change."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

IMPORT_SECONDS = 0.4


def processor_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-P", *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("statement", ["import ci_action.main", "import ci_action.commands.stages"])
def test_the_orchestrator_starts_within_its_budget(statement: str) -> None:
    bare = min(processor_seconds("-c", "pass") for _ in range(2))
    assert min(processor_seconds("-c", statement) for _ in range(3)) - bare < IMPORT_SECONDS


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
