"""`torchscan-ci run` on the bundled example over the slower side's bare worker, in turn.

The bare worker is what nobody can avoid: python, import torch, build each model, one forward.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ci_action.example import build_repository

BARE = """
import sys; sys.path.insert(0, ".")
import torch
from bench import models
for name in sys.argv[1:]:
    model, args, *rest = getattr(models, name)()
    with torch.no_grad(): model.eval()(*args, **(rest[0] if rest else {}))
"""
ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}


def seconds(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: the example exceeds a limit
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "repository"
        build_repository(repository)
        run = [sys.executable, "-m", "ci_action", "run", "--base", "main", "--head", "wider-cnn", "--quiet"]
        bare = [sys.executable, "-c", BARE, "cnn", "resnet50", "gpt2"]
        pairs = [(seconds(bare, repository), seconds(run, repository)) for _ in range(5)]
    worker, whole = (statistics.median(column) for column in zip(*pairs, strict=True))
    print("| bare worker | torchscan-ci run | allowed (1.3 x + 2 s) |\n| --: | --: | --: |")
    print(f"| {worker:.2f} s | {whole:.2f} s | {1.3 * worker + 2:.2f} s |")


if __name__ == "__main__":
    main()
