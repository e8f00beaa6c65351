"""Take each guard against sections S and B of the cases and against spoilt measurements (F) away, and see that a test
notices: python tests/mutations

Not part of the suite: it works on a copy of the checkout and runs one test file per guard. Ends with 1 if any guard
can go unnoticed, or if a guard is not where these lists say.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import boundary
import delivery
import events
import evidence
import judgement
import measured
import provenance
import repository
import splitting
import timings
import workers
from mutation import Mutation

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("ci_action", "torchscan", "templates", "tests", ".github")
COPIED += ("action.yml", "pyproject.toml", "README.md", "LICENSE")
ROOMS = (boundary, delivery, events, evidence, judgement, measured, provenance, repository, splitting, timings, workers)
MUTATIONS = [item for room in ROOMS for item in room.MUTATIONS]


def main() -> int:
    """Try every mutation whose case or file holds one of the words given on the command line; all without words."""
    words = sys.argv[1:]
    chosen = [item for item in MUTATIONS if not words or any(word in f"{item.case} {item.file}" for word in words)]
    unnoticed = 0
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        copy = Path(folder) / "copy"
        copy_checkout(copy)
        for test in sorted({item.test for item in chosen}):
            if failed := first_failure(test, copy):  # it would "catch" everything
                print(f"{test} fails with every guard in its place: {failed}")
                return 1
        for item in chosen:
            said = tried(item, copy)
            unnoticed += not said
            print(f"{'caught' if said else 'UNNOTICED'}  {item.case}  ({said or item.file})", flush=True)
    print(f"{len(chosen) - unnoticed} of {len(chosen)} guards are held by a test")
    return 1 if unnoticed else 0


def copy_checkout(copy: Path) -> None:
    """Copy what the tests read, without what they write."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignored)
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy2(source, copy / name)
    subprocess.run(["git", "init", "--quiet", str(copy)], check=True)  # tests export what a commit would hold
    for name in (".node", ".cache"):  # GitHub's own description, which some tests answer by; unpacked gits
        if (ROOT / name).exists():
            (copy / name).symlink_to(ROOT / name, target_is_directory=True)


def tried(item: Mutation, copy: Path) -> str:
    """Take one guard away and give the name of the test that fails, or nothing."""
    file = copy / item.file
    text = file.read_text(encoding="utf-8")
    if item.guard not in text:
        return ""
    file.write_text(text.replace(item.guard, item.without), encoding="utf-8")
    try:
        return first_failure(item.test, copy)
    finally:
        file.write_text(text, encoding="utf-8")


def first_failure(test: str, copy: Path) -> str:
    """Run one test file of the copy against the copy's own packages."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--rootdir", str(copy), test]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
    return found[1].partition("::")[2] or found[1] if found else ""


if __name__ == "__main__":
    sys.exit(main())
