"""Take over what another run measured: find its evidence, prove it, and read the configs from GitHub.

A whole publishing run, comment and status included, stays within ``MAX_REQUESTS`` API requests where the evidence is
whole, nothing has to be sent again and each list has one page: 1 for the pull request, 2 for the artifact, up to 4 for
the ancestry of base and merge, up to 8 for both configs (trees and files), up to 4 for what differs where a target has
``paths``, 1 for the first run of head, up to 5 for comment and status. Each further shard is one more, and an exceeded
limit with an ``accept-label`` three.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ci_action.core.handover.delivery import Delivery
from ci_action.core.handover.publish_evidence import FILE
from ci_action.core.handover.received_evidence import Budget, read_received
from ci_action.core.handover.shards import MOST_SHARDS, evidence_group, evidence_name, joined, report_group
from ci_action.edges.github.archive import only_file
from ci_action.errors import EvidenceError
from ci_action.proof import prove_commits

if TYPE_CHECKING:
    from collections.abc import Callable

    from ci_action.core.event import PullRequest
    from ci_action.core.handover.producing_run import ProducingRun
    from ci_action.core.handover.received_evidence import Received
    from ci_action.ports import Artifact, RemoteRepository, RunStore


def take_over(
    run: ProducingRun, pull: PullRequest, remote: RemoteRepository, store: RunStore, *, artifact_name: str
) -> Delivery:
    """Download and check a run's evidence, and prove the commits that it names.

    Raises EvidenceError, PublishError.
    """
    artifacts = store.artifacts(run.id)
    chosen = choose_evidence(artifacts, artifact_name)
    budget = Budget()
    received = joined([_read(item, run, store, budget) for item in chosen])
    return Delivery(
        run=run,
        pull=pull,
        commits=prove_commits(pull, received, remote),
        received=received,
        full_reports=tuple(item.name for item in _latest(artifacts, partial(report_group, artifact_name))),
    )


def _read(item: Artifact, run: ProducingRun, store: RunStore, budget: Budget) -> Received:
    try:
        return read_received(only_file(store.archive(item), FILE), budget)
    except EvidenceError as error:
        raise EvidenceError(f"artifact {item.name!r} of run {run.id} is refused: {error}. {AGAIN}") from error


MAX_REQUESTS = 25
AGAIN = "Run that workflow again; if this stays, let both workflows use one version of the action"


def choose_evidence(artifacts: list[Artifact], name: str) -> list[Artifact]:
    """Pick the evidence of a run: whole, or all shards of the latest split. Raises EvidenceError if there is none."""
    found = _latest(artifacts, partial(evidence_group, name))
    if not found and any(evidence_group(name, item.name) is not None for item in artifacts):
        raise EvidenceError("the measuring run's evidence has expired: run that workflow again, or push again")
    if not found:
        raise EvidenceError(
            f"the measuring run left no artifact {evidence_name(name, None)!r}: it did not get to its end, or its "
            "input artifact-name is another one"
        )
    return found


def _latest(artifacts: list[Artifact], group_of: Callable[[str], int | None]) -> list[Artifact]:
    """Those of the latest split that are still there. ``group_of``: to how many shards a name belongs, if it is meant.

    Names are compared with what ours would be, so none that another run thought of comes through.
    """
    groups: dict[int, dict[str, Artifact]] = {}
    for item in sorted(artifacts, key=_age):
        group = group_of(item.name)
        if group is not None and not item.is_expired:
            groups.setdefault(group, {})[item.name] = item  # of one name the latest attempt counts
    latest = max(groups.values(), key=lambda group: max(map(_age, group.values())), default={})
    return list(latest.values())[:MOST_SHARDS]


def _age(item: Artifact) -> tuple[str, int]:
    """Order by time: of a run that was started again, the later attempt can have the lower id (upload-artifact#571)."""
    return item.created_at, item.id
