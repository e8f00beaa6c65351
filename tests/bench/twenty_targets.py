"""`torchscan-ci run` on 20 small targets without a change: this tree over the committed 0.3.0, in turn.

0.3.0 measures all targets of a side in one process; this tree forks one for each. 1.1 times its time is allowed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OLD = "0d7e85f"
TARGETS = 20
MODELS = "import torch\nfrom torch import nn\n\n" + "\n".join(
    f"def net{number}():\n"
    f"    layers = [nn.Linear(16, 16), nn.ReLU()] * {number % 5 + 1}\n"
    f"    return nn.Sequential(*layers), (torch.zeros(2, 16),)\n"
    for number in range(TARGETS)
)
CONFIG = 'schema-version = 1\n\n[[limits]]\nmetric = "operator_macs"\nmax-increase = "5%"\n' + "".join(
    f'\n[[targets]]\nid = "net{number}"\nfactory = "models.py:net{number}"\n' for number in range(TARGETS)
)


def main() -> None:
    """Run both versions in turn and print the ratio of their medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        old, repository = Path(folder) / "old", Path(folder) / "repository"
        git(ROOT, "worktree", "add", "--quiet", "--detach", str(old), OLD)
        try:
            build(repository)
            took = [(seconds(old, repository), seconds(ROOT, repository)) for _ in range(runs + 1)][1:]
        finally:
            git(ROOT, "worktree", "remove", "--force", str(old))
    before, now = (statistics.median(column) for column in zip(*took, strict=True))
    print(f"| {OLD} | this tree | ratio of medians | ratios of pairs |\n| --: | --: | --: | :-- |")
    ratios = " ".join(f"{new / old:.2f}" for old, new in took)
    print(f"| {before:.2f} s | {now:.2f} s | {now / before:.3f} | {ratios} |")


def build(repository: Path) -> None:
    """Make a repository whose head changes nothing of what is measured."""
    repository.mkdir()
    git(repository, "init", "--quiet", "--initial-branch", "main")
    (repository / "models.py").write_text(MODELS)
    (repository / "torchscan.toml").write_text(CONFIG)
    commit(repository, "base")
    (repository / "README").write_text("words\n")
    commit(repository, "head")


def seconds(tree: Path, repository: Path) -> float:
    """How long one run takes by the packages of ``tree``."""
    command = [sys.executable, "-m", "ci_action", "run", "--base", "HEAD~1", "--head", "HEAD", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{tree} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - start


def commit(repository: Path, message: str) -> None:
    """Commit everything."""
    git(repository, "add", "--all")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    git(repository, *identity, "commit", "--quiet", "--message", message)


def git(folder: Path, *words: str) -> None:
    """Run git; its own words end the benchmark where it fails."""
    subprocess.run(["git", "-C", str(folder), *words], check=True)


if __name__ == "__main__":
    main()
