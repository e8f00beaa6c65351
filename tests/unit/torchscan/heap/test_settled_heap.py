"""The first use of a name loads a hundred modules: that must not set off a pass over all that torch has loaded."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
import torch
import torchscan

passes = []
gc.callbacks.append(lambda phase, info: passes.append(len(gc.get_objects())) if info["generation"] == 2 else None)
before = len(gc.get_objects())
gc.disable()
kept = [[number] for number in range(before)]
gc.collect(1)  # so many survivors make a full pass due at the next occasion
gc.enable()
gc.set_threshold(700, 1, 1)
{first}
torchscan.crawl_module
gc.disable()
print(before, max(passes, default=0), gc.get_freeze_count())
"""


def numbers(first: str = "") -> tuple[int, int, int]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(first=first)], capture_output=True, text=True, check=True
    )
    before, largest_pass, frozen = map(int, done.stdout.split())
    return before, largest_pass, frozen


def test_the_first_use_walks_no_more_than_it_made() -> None:
    before, largest_pass, frozen = numbers()
    assert largest_pass < before / 2
    assert frozen == 0


def test_a_heap_that_the_application_froze_stays_so() -> None:
    before, _, frozen = numbers("gc.freeze()")
    assert frozen >= before / 2
