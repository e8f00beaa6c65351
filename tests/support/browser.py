"""What a browser test sees of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Visit:
    """An open page, what it asked for and what it complained about."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def assert_quiet(self) -> None:
        """One request for the file itself, and not a word on the console."""
        assert [url for url in self.requests if not url.startswith(("file:", "data:"))] == []
        assert sum(url.startswith("file:") for url in self.requests) == 1
        assert self.complaints == []
