"""Who needs what: the library and the orchestrator start without torch, the worker with nothing but torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

import torchscan

ORCHESTRATOR_ONLY = ("click", "jsonschema", "requests", "psutil")


def run(code: str, *, blocked: tuple[str, ...] = ()) -> str:
    """Run code in a fresh interpreter where some packages cannot be imported."""
    guard = f"import sys; sys.modules.update(dict.fromkeys({blocked!r}))\n"
    command = [sys.executable, "-P", "-W", "error", "-c", guard + code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_library_and_the_orchestrator_leave_torch_out() -> None:
    run("import torchscan, ci_action.main\nassert 'torch' not in sys.modules")


@pytest.mark.parametrize("name", ["compare_reports", "compare_benchmarks", "render_report"])
def test_pure_functions_import_where_torch_is_missing(name: str) -> None:
    run(f"import torchscan; torchscan.{name}", blocked=("torch",))


def test_every_orchestrator_module_imports_where_torch_is_missing() -> None:
    code = """
import importlib, pkgutil, ci_action
names = [m.name for m in pkgutil.walk_packages(ci_action.__path__, 'ci_action.')]
orchestrator = [n for n in names if not n.startswith('ci_action.worker') and not n.endswith('__main__')]
for name in orchestrator: importlib.import_module(name)
print(len(orchestrator))
"""
    assert int(run(code, blocked=("torch",))) > 10


def test_the_worker_starts_where_only_torch_is_installed() -> None:
    code = """
import importlib, pkgutil, ci_action.worker
for module in pkgutil.walk_packages(ci_action.worker.__path__, 'ci_action.worker.'):
    if not module.name.endswith('__main__'): importlib.import_module(module.name)
"""
    run(code, blocked=(*ORCHESTRATOR_ONLY, "jinja2"))


@pytest.mark.parametrize("name", sorted(torchscan.__all__))
def test_every_public_name_resolves_and_is_documented(name: str) -> None:
    assert getattr(torchscan, name).__doc__ or name == "__version__"
