"""Whom a foreign run's evidence is about: proven from the event and GitHub, never from the evidence [S3, S4, S26].

The run names its commit, branch and repository; GitHub names the pull requests of that branch. The base is where both
parted, or a later commit of the base branch: the evidence may choose among these, and among nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci_action.core.plan import Commits
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from ci_action.core.event import PullRequest
    from ci_action.core.handover.producing_run import ProducingRun
    from ci_action.core.handover.received_evidence import Received
    from ci_action.ports import RemoteRepository


@dataclass(frozen=True, slots=True)
class Unproven:
    """Why nothing may be posted. ``rivals``: the pull requests of the measured head, where it is one of several."""

    reason: str
    rivals: tuple[PullRequest, ...] = ()


def prove_pull_request(
    run: ProducingRun, remote: RemoteRepository, *, repository: str, workflow: str
) -> PullRequest | Unproven:
    """Find the one open pull request that the run measured. ``workflow``: path of the only workflow that is believed.

    Raises PublishError.
    """
    if run.repository.lower() != repository.lower():
        return Unproven("the measuring run belongs to another repository")
    if run.path != workflow:
        return Unproven(f"the measuring run is of {run.path}, and the input workflow names {workflow}")
    if run.head_repository is None:
        return Unproven("the fork that was measured is gone")
    owner = run.head_repository.partition("/")[0]
    found = [pull for pull in remote.pulls_from(owner, run.head_branch) if _is_of(pull, run, repository)]
    if len(found) != 1:
        return Unproven(
            f"{len(found) or 'no'} open pull requests have the measured commit {run.head_sha[:7]} as their head",
            rivals=tuple(found),
        )
    return found[0]


def prove_commits(pull: PullRequest, received: Received, remote: RemoteRepository) -> Commits:
    """Hold the commits that the evidence names against GitHub's.

    Raises EvidenceError where they do not belong to this pull request, PublishError.
    """
    if received.head_sha != pull.head_sha:
        raise EvidenceError(f"the evidence is of another head than the run that it came from: {AGAIN}")
    if received.base_sha is None:
        raise EvidenceError("the evidence has no base: let the measuring job check out with fetch-depth: 0")
    whole = remote.compare(pull.base_ref, pull.head_sha)
    parted = whole.merge_base
    if received.base_sha != parted and not _is_between(parted, received.base_sha, pull.base_ref, remote):
        problem = f"the evidence was measured against {received.base_sha[:7]}, which is no base of this branch"
        raise EvidenceError(f"{problem}: {DEMAND}; {ANEW}")
    is_merge = received.measured_sha != pull.head_sha
    if is_merge and remote.parents(received.measured_sha) != [received.base_sha, pull.head_sha]:
        raise EvidenceError(f"the evidence was measured on a commit that is not the merge of base and head: {AGAIN}")
    return Commits(
        base_sha=received.base_sha,
        head_sha=pull.head_sha,
        measured_sha=received.measured_sha,
        base_reason="first parent of the merge commit" if is_merge else f"merge base with {pull.base_ref}",
        base_ref=pull.base_ref,
        policy_sha=whole.base_sha or None,
        # Anybody can make a commit with these two parents and any tree: only GitHub's own merge speaks for head.
        head_config_sha=None if received.measured_sha in {pull.head_sha, pull.merge_sha} else pull.head_sha,
    )


DEMAND = "it must be where both parted, or a later commit of the base branch"
ANEW = "push to the pull request, or close it and open it again: a run that is only started again keeps its old base"
"""As after a change of the base branch: https://docs.github.com/actions/managing-workflow-runs/re-running-workflows"""
AGAIN = "run the measuring workflow again"


def _is_of(pull: PullRequest, run: ProducingRun, repository: str) -> bool:
    """All four together: one commit can head two pull requests, and a branch can have moved on."""
    return (
        (pull.head_repository or "").lower() == (run.head_repository or "-").lower()
        and pull.head_ref == run.head_branch
        and pull.head_sha == run.head_sha
        and pull.base_repository.lower() == repository.lower()
    )


def _is_between(parted: str, base: str, branch: str, remote: RemoteRepository) -> bool:
    """Whether base is on the branch, and not older than the place where the pull request left it."""
    return remote.compare(base, branch).has_base_as_ancestor and remote.compare(parted, base).has_base_as_ancestor
