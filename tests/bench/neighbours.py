"""Processes that want the cores now and then, as the neighbours of a shared runner do."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

LEAST_SECONDS, MOST_SECONDS = 0.5, 5.0


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Let ``count`` processes work and rest in turn, each for half a second to five at a time."""
    started = [subprocess.Popen([sys.executable, __file__, str(seed)]) for seed in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def work_and_rest(seed: int) -> None:
    """Copy memory and count for a while, then sleep for a while, and so on until killed."""
    lengths = random.Random(seed)  # a schedule, no secret
    block = bytearray(32 << 20)
    while True:
        until = time.perf_counter() + lengths.uniform(LEAST_SECONDS, MOST_SECONDS)
        while time.perf_counter() < until:
            bytes(block)
            sum(range(100_000))
        time.sleep(lengths.uniform(LEAST_SECONDS, MOST_SECONDS))


if __name__ == "__main__":
    work_and_rest(int(sys.argv[1]))
