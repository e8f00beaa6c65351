"""What several files of this folder start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.publishing import Scene, publishing_scene


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A fork's pull request that was measured, and the publishing job for it."""
    with publishing_scene(tmp_path, monkeypatch) as made:
        yield made
