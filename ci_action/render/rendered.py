"""Everything that a run shows, as strings, ready to be delivered."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The texts of one run. ``pages`` maps file names of the artifact (index.html, m-000.html, result.json) to text."""

    comment: str
    summary: str
    terminal: str
    headline: str
    pages: dict[str, str] = field(default_factory=dict)
