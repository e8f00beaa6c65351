"""Ours and the peers on the same work: a fresh process per tool, model and round, in turn; medians as a table."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from models import MODELS
from tools import TOOLS

HERE = Path(__file__).parent

REPO = HERE.parent.parent


def run_one(python: str, tool: str, model: str) -> dict[str, Any]:
    command = [python, str(HERE / "one.py"), tool, model]
    environment = {
        "PATH": "/usr/bin:/bin",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(REPO),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900, check=False)
    if done.returncode:
        return {"tool": tool, "model": model, "error": done.stderr.strip().splitlines()[-1][:150]}
    return json.loads(done.stdout.splitlines()[-1])


def cell(runs: list[dict[str, Any]], key: str) -> str:
    values = [run[key] for run in runs if key in run]
    return f"{statistics.median(values):.2f}" if values else "crash"


def table(runs: dict[tuple[str, str], list[dict[str, Any]]], models: list[str], tools: list[str], key: str) -> str:
    lines = ["| model | " + " | ".join(tools) + " |", "| --- |" + " --: |" * len(tools)]
    lines += [f"| {m} | " + " | ".join(cell(runs[t, m], key) for t in tools) + " |" for m in models]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the peers")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--tools", nargs="+", default=[t for t in TOOLS if t != "forward"], choices=TOOLS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for turn in range(options.rounds):
        for model in options.models:
            for tool in options.tools:
                runs[tool, model].append(run_one(options.python, tool, model))
                print(f"round {turn + 1}: {json.dumps(runs[tool, model][-1])}", file=sys.stderr)
    for key in ("ratio", "first_beyond_forward_seconds", "peak_rss_growth_mib"):
        print(f"\n{key}\n\n{table(runs, options.models, options.tools, key)}")
    if options.json:
        options.json.write_text(json.dumps([run for several in runs.values() for run in several], indent=1))


if __name__ == "__main__":
    main()
