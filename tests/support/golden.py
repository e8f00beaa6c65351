"""Golden files: exact text beside the tests, rewritten with --update-golden and reviewed as a diff."""

from __future__ import annotations

from pathlib import Path

import pytest


def check_golden(text: str, path: Path, config: pytest.Config) -> None:
    """Compare with a golden file, or rewrite it when asked to."""
    if config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    assert path.is_file(), f"{path.name} is missing: run pytest with --update-golden"
    assert text == path.read_text(encoding="utf-8"), f"differs from {path}: look at it, then --update-golden"
