"""May the next pair's processes start while a pair is timed? The same blocks on a machine with and without starters.

    python tests/bench/early_start.py --pairs 10

Two halves of equal code are timed in turn, as a pair is: in every second pair two processes import torch meanwhile,
again and again, as the next pair's workers would. The scatter of a pair decides, and what a call takes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from math import log
from statistics import median, stdev
from time import perf_counter

import torch
from torch import nn

from ci_action.core.timing.lockstep import BLOCK_SECONDS, MOST_BLOCKS
from ci_action.core.timing.rounds import block_order

STARTER = "import subprocess, sys\nwhile True: subprocess.run([sys.executable, '-c', 'import torch'])"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10, help="of each kind")
    pairs = parser.parse_args().pairs
    torch.set_num_threads(1)
    layers = [layer for _ in range(20) for layer in (nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())]
    model, image = nn.Sequential(*layers).eval(), torch.randn(1, 16, 64, 64)
    ratios: dict[bool, list[float]] = {False: [], True: []}
    calls: dict[bool, list[float]] = {False: [], True: []}
    with torch.no_grad():
        for number in range(2 * pairs):
            is_starting = bool(number % 2)
            seconds = _pair(model, image, starters=2 if is_starting else 0)
            ratios[is_starting].append(median(log(b / a) for a, b in zip(seconds["A"], seconds["B"], strict=True)))
            calls[is_starting].append(median(seconds["A"]))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {pairs} pairs of each kind")
    for is_starting, title in ((False, "nothing starts"), (True, "two processes start")):
        print(
            f"{title}: sd of a pair {stdev(ratios[is_starting]):.4f}, a call {median(calls[is_starting]) * 1e3:.2f} ms"
        )


def _pair(model: nn.Module, image: torch.Tensor, *, starters: int) -> dict[str, list[float]]:
    # Each is the head of a process group of its own: what it started ends with it.
    running = [subprocess.Popen([sys.executable, "-c", STARTER], start_new_session=True) for _ in range(starters)]
    seconds: dict[str, list[float]] = {"A": [], "B": []}
    try:
        for side in block_order(MOST_BLOCKS, starts_with_a=True):
            began, calls = perf_counter(), 0
            while perf_counter() - began < BLOCK_SECONDS:
                model(image)
                calls += 1
            seconds[side].append((perf_counter() - began) / calls)
    finally:
        for process in running:
            os.killpg(process.pid, 9)
            process.wait()
    return seconds


if __name__ == "__main__":
    main()
