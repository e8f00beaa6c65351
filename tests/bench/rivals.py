"""The lockstep trial beside its rivals: the same code on both sides, or a known share of more work in the head.

    python3 -m venv /tmp/rivals && /tmp/rivals/bin/pip install torch==2.13.0 pytest-benchmark asv pyperf
    python tests/bench/rivals.py --rivals /tmp/rivals/bin/python --runs 20

Each tool compares base with head at a limit of 5%: pytest-benchmark with ``--benchmark-compare-fail=median:5%``; pyperf
with ``compare_to --min-speed 5``; asv with ``compare --factor 1.05`` over ``asv run`` of base and then of head, because
``asv continuous`` must build environments of its own and this runs offline in one that exists. All of them time the
model of ``lockstep.py`` on one thread. A cell counts the runs that a tool failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

from lockstep import LAYERS, MODEL, SIDE_SECONDS, timed, words
from neighbours import neighbours

from ci_action.core.timing import lockstep as schedule

CALL = """
import torch
from models import cnn

torch.set_num_threads(1)
model, args = cnn()
model.eval()

def call():
    with torch.no_grad():
        model(*args)
"""
PYTEST = "from call import call\n\ndef test_call(benchmark):\n    benchmark(call)\n"
PYPERF = "import pyperf\nfrom call import call\n\npyperf.Runner().bench_func('call', call)\n"
ASV = "import sys\nsys.path.insert(0, {side!r})\nfrom call import call\n\ndef time_call():\n    call()\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", type=Path, required=True, help="interpreter with torch and the rivals")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument(
        "--extras", type=float, nargs="+", default=(0.0, 0.10, 0.15), help="shares of more work in head"
    )
    parser.add_argument("--neighbours", type=int, default=0, help="processes that want the cores now and then")
    parser.add_argument("--only", nargs="+", choices=tuple(TRIALS), default=tuple(TRIALS))
    arguments = parser.parse_args()
    schedule.SIDE_SECONDS = SIDE_SECONDS
    with neighbours(arguments.neighbours):
        print(_table(arguments))


def _table(arguments: argparse.Namespace) -> str:
    """Give the tools their runs in turn, and the runs that each failed as a table."""
    alarms: Counter[tuple[str, float]] = Counter()
    seconds: Counter[str] = Counter()
    for extra in arguments.extras:
        for run in range(arguments.runs):
            for tool in arguments.only:
                began = perf_counter()
                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    _write_sides(folder, extra)
                    alarm = TRIALS[tool](folder, arguments.rivals)
                alarms[tool, extra] += alarm
                seconds[tool] += perf_counter() - began
                load = os.getloadavg()[0]
                print(f"+{extra:.0%}, run {run}: {tool} {'fails' if alarm else 'passes'}, load {load:.1f}", flush=True)
    titles = [f"+{extra:.0%} work" for extra in arguments.extras]
    lines = [f"| tool | {' | '.join(titles)} | seconds a run |", f"|{' --- |' * (len(titles) + 2)}"]
    for tool in arguments.only:
        cells = [f"{alarms[tool, extra]} of {arguments.runs}" for extra in arguments.extras]
        lines.append(f"| {tool} | {' | '.join(cells)} | {seconds[tool] / arguments.runs / len(titles):.0f} |")
    return "\n".join(lines)


def _write_sides(folder: Path, extra: float) -> None:
    for side, layers in (("base", LAYERS), ("head", round(LAYERS * (1 + extra)))):
        (folder / side).mkdir()
        for name, text in (
            ("models.py", MODEL.format(layers=layers)),
            ("call.py", CALL),
            ("test_call.py", PYTEST),
            ("timed.py", PYPERF),
        ):
            (folder / side / name).write_text(text)


def _ours(folder: Path, rivals: Path) -> bool:
    return words(timed(folder, "run", python=str(rivals)))["pairs"] == "regressed"


def _pytest_benchmark(folder: Path, rivals: Path) -> bool:
    store = f"--benchmark-storage=file://{folder / 'stored'}"
    common = [str(rivals), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "test_call.py", store]
    _ran([*common, "--benchmark-save=base"], folder / "base")
    return "Performance has regressed" in _ran(
        [*common, "--benchmark-compare", "--benchmark-compare-fail=median:5%"], folder / "head", may_fail=True
    )


def _pyperf(folder: Path, rivals: Path) -> bool:
    for side in ("base", "head"):
        command = [
            str(rivals),
            "timed.py",
            "--processes=5",
            "--quiet",
            "--copy-env",
            "-o",
            str(folder / f"{side}.json"),
        ]
        _ran(command, folder / side)
    compared = [str(rivals), "-m", "pyperf", "compare_to", "--min-speed", "5", "base.json", "head.json"]
    return "slower" in _ran(compared, folder)


def _asv(folder: Path, rivals: Path) -> bool:
    """Run both commits of a repository in the interpreter that is there, each against its own side's model."""
    hashes = {}
    for side in ("base", "head"):
        (folder / "benchmarks").mkdir(exist_ok=True)
        (folder / "benchmarks" / "__init__.py").touch()
        (folder / "benchmarks" / "call_time.py").write_text(ASV.format(side=str(folder / side)))
        if side == "base":
            config = {"version": 1, "project": "net", "repo": ".", "environment_type": "existing"}
            (folder / "asv.conf.json").write_text(json.dumps({**config, "branches": ["main"]}))
            _ran(["git", "init", "-q", "-b", "main"], folder)
            _ran([str(rivals), "-m", "asv", "machine", "--yes"], folder)
        _ran(["git", "add", "benchmarks", "asv.conf.json"], folder)
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
        _ran(["git", *identity, "commit", "-q", "-m", side], folder)
        hashes[side] = _ran(["git", "rev-parse", "HEAD"], folder).strip()
        run = ["run", "-E", f"existing:{rivals}", "--set-commit-hash", hashes[side]]
        _ran([str(rivals), "-m", "asv", *run], folder)
    compared = [str(rivals), "-m", "asv", "compare", "--factor", "1.05", "--split", hashes["base"], hashes["head"]]
    return "Benchmarks that have got worse" in _ran(compared, folder)


def _ran(command: list[str], folder: Path, *, may_fail: bool = False) -> str:
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "HOME": str(folder.parent)}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    if done.returncode and not may_fail:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


TRIALS: Mapping[str, Callable[[Path, Path], bool]] = MappingProxyType(
    {"lockstep pairs": _ours, "pytest-benchmark": _pytest_benchmark, "pyperf": _pyperf, "asv": _asv}
)

if __name__ == "__main__":
    main()
