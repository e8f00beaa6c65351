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
