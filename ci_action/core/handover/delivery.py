"""What another run measured, and for which pull request, once both are proven."""

from __future__ import annotations

from dataclasses import dataclass

from ci_action.core.event import PullRequest
from ci_action.core.handover.producing_run import ProducingRun
from ci_action.core.handover.received_evidence import Received
from ci_action.core.plan import Commits


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a publishing run knows before it judges."""

    run: ProducingRun
    pull: PullRequest
    commits: Commits
    received: Received
    full_reports: tuple[str, ...] = ()
    """Artifacts of that run with the pages of its models. They are named to the reader and never opened here."""
