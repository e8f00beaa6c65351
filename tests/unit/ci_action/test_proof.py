"""Nothing that the evidence says decides where a comment goes or against what was measured."""

from __future__ import annotations

from typing import Any

import pytest
from support.fake_remote import ELSEWHERE, HEAD, LATER, MERGE, PARTED, PULL, RUN, FakeRemote, pull, run

from ci_action.core.event import PullRequest
from ci_action.core.handover.producing_run import ProducingRun
from ci_action.core.handover.received_evidence import Received
from ci_action.errors import EvidenceError
from ci_action.proof import Unproven, prove_commits, prove_pull_request

WORKFLOW = RUN.path


def proven(remote: FakeRemote, of: ProducingRun = RUN, workflow: str = WORKFLOW) -> PullRequest | Unproven:
    return prove_pull_request(of, remote, repository="acme/widget", workflow=workflow)


def claims(**fields: Any) -> Received:
    given = {"base_sha": PARTED, "head_sha": HEAD, "measured_sha": HEAD} | fields
    return Received(**given, base=[], head=[], benchmarks={})


def test_the_pull_request_is_the_one_whose_head_was_measured() -> None:
    remote = FakeRemote(pulls=[pull(number=1, head_sha=ELSEWHERE), PULL])
    assert proven(remote) == PULL
    assert remote.asked == [("octo", "feature")]


@pytest.mark.parametrize(
    "other",
    [
        {"head_sha": ELSEWHERE},  # the branch has moved on
        {"head_ref": "another"},
        {"head_repository": "mallory/widget"},
        {"head_repository": None},
        {"base_repository": "octo/widget"},  # a pull request inside the fork
    ],
)
def test_a_pull_request_that_differs_in_one_point_is_not_it(other: dict[str, Any]) -> None:
    assert isinstance(proven(FakeRemote(pulls=[pull(**other)])), Unproven)


def test_two_pull_requests_of_one_head_are_none() -> None:
    found = proven(FakeRemote(pulls=[PULL, pull(number=8, base_ref="next")]))
    assert isinstance(found, Unproven)
    assert "2 open pull requests" in found.reason


@pytest.mark.parametrize(
    "of",
    [
        run(path=".github/workflows/other.yml"),
        run(repository="octo/widget"),
        run(head_repository=None),
        run(head_repository="octo/else"),
    ],
)
def test_only_the_named_workflow_of_this_repository_is_believed(of: ProducingRun) -> None:
    assert isinstance(proven(FakeRemote(), of), Unproven)


@pytest.mark.parametrize(
    ("claimed", "reason"),
    [
        (claims(), "merge base with main"),
        (claims(base_sha=LATER), "merge base with main"),
        (claims(base_sha=LATER, measured_sha=MERGE), "first parent of the merge commit"),
    ],
)
def test_a_base_is_where_both_parted_or_later_on_the_branch(claimed: Received, reason: str) -> None:
    commits = prove_commits(PULL, claimed, FakeRemote())
    assert (commits.base_sha, commits.head_sha, commits.base_reason) == (claimed.base_sha, HEAD, reason)


@pytest.mark.parametrize(
    "claimed",
    [
        claims(base_sha=ELSEWHERE),
        claims(base_sha=HEAD),
        claims(base_sha=None),
        claims(head_sha=ELSEWHERE),
        claims(measured_sha=ELSEWHERE),
        claims(measured_sha=MERGE),  # MERGE joins head with LATER, not with PARTED
    ],
)
def test_commits_that_do_not_belong_together_are_refused(claimed: Received) -> None:
    with pytest.raises(EvidenceError):
        prove_commits(PULL, claimed, FakeRemote())


def test_a_pull_request_with_another_base_is_told_what_measures_it_anew() -> None:
    # given evidence against a commit that is on no branch of the present base: to start that run again changes nothing
    with pytest.raises(EvidenceError, match="push to the pull request, or close it and open it again"):
        prove_commits(PULL, claims(base_sha=ELSEWHERE), FakeRemote())


def test_a_base_from_before_the_branch_was_made_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # given a head that left main at LATER, and evidence against PARTED, where the limits were laxer
    remote = FakeRemote()
    asked = remote.compare

    def compare(base: str, head: str) -> Any:
        return asked(base, head) if head != HEAD else type(asked("main", HEAD))(status="ahead", merge_base=LATER)

    monkeypatch.setattr(remote, "compare", compare)
    with pytest.raises(EvidenceError):
        prove_commits(PULL, claims(base_sha=PARTED), remote)
