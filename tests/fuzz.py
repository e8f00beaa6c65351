"""Run the tests of properties with random examples for a time: ``make fuzz``, or ``python tests/fuzz.py --seconds 60``.

Each round draws a seed, prints it, and ends the run where a test fails. Not part of the suite, whose examples are the
same each time: what is found here belongs beside its test as an ``@example``.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run rounds until the time is up, or the one round of a given seed. Return 1 after a failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="no round starts after this time")
    parser.add_argument("--seed", type=int, help="run the one round that printed this seed")
    parser.add_argument("tests", nargs="*", default=["tests"], help="files or folders, all by default")
    chosen = parser.parse_args()
    began, rounds = monotonic(), 0
    while rounds == 0 or (chosen.seed is None and monotonic() - began < chosen.seconds):
        seed = secrets.randbelow(1 << 32) if chosen.seed is None else chosen.seed
        rounds += 1
        print(f"round {rounds}: seed {seed}", flush=True)
        if code := run_round(seed, chosen.tests):
            print(f"failed with seed {seed}: make fuzz SEED={seed} draws these examples again")
            return code
    print(f"{rounds} rounds, no failure")
    return 0


def run_round(seed: int, tests: list[str]) -> int:
    """Run every test of a property once and return pytest's exit code."""
    options = ["-q", "-x", "-m", "hypothesis", "--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}"]
    return subprocess.run([sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
