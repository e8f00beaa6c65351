"""What a report says about the run around the numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The run's own facts, as the edges know them. Everything is optional outside Actions."""

    torchscan_version: str
    repository: str | None = None
    server_url: str = "https://github.com"
    run_id: int | None = None
    run_attempt: int = 1
    workflow_path: str = ""
    """Path of the workflow that produced the numbers: two workflows keep a comment each."""
    comment_id: str = "default"
    """The input that keeps several comments of one workflow apart."""
    artifact_url: str | None = None
    platform: str = ""
    """For example ``Linux x86-64``."""
    reproduction: str | None = None
    """The command that does the same on somebody's own machine."""
    fork: str | None = None
    """Full name of the fork whose code was measured in a run that publishes for it; None where the code is trusted."""
    is_split: bool = False
    """The numbers come from another run, as evidence without words: totals and changed calls, no messages."""
    full_reports: tuple[str, ...] = ()
    """Artifacts of the run that measured, where it published nothing itself: the pages that no evidence can hold."""
    report_directory: str | None = None
    """Where the pages are, in a local run."""

    @property
    def is_foreign(self) -> bool:
        """Whether only identifiers and class names of what was measured may be shown."""
        return self.is_split or self.fork is not None

    @property
    def run_url(self) -> str | None:
        """The page of the run that measured, or None outside GitHub."""
        return f"{self.repository_url}/actions/runs/{self.run_id}" if self.repository_url and self.run_id else None

    @property
    def repository_url(self) -> str | None:
        """The repository's page, or None outside GitHub."""
        return f"{self.server_url.rstrip('/')}/{self.repository}" if self.repository else None
