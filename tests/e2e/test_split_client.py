"""What a publishing run asks and writes, held against GitHub's descriptions: github.com and Enterprise Server."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.fake_remote import RUN
from support.rig import widget
from support.rig.network import Network
from support.rig.openapi import minimal
from support.rig.repository import Consumer, consumer
from support.rig.server import FakeGitHub
from support.rig.state import PullRequestState

from ci_action.core.plan import Commits
from ci_action.edges.github.api import Api
from ci_action.edges.github.checks import ChecksRest
from ci_action.edges.github.remote import RemoteRest
from ci_action.edges.github.run_store import RunStoreRest
from ci_action.ports import CommitStatus, RefusedError

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("rig")]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Consumer:
    return consumer(tmp_path_factory.mktemp("split"), base=widget.base(), head=widget.model(48))


@pytest.fixture(params=["github", "ghes"])
def served(request: pytest.FixtureRequest, repository: Consumer) -> FakeGitHub:
    github: FakeGitHub = request.getfixturevalue(request.param)
    github.state.remote = repository.remote
    github.state.pull_requests[7] = PullRequestState(
        number=7, head_sha=repository.head_sha, base_sha=repository.base_sha, head_repository="octo/widget"
    )
    return github


@pytest.fixture
def api(network: Network, served: FakeGitHub) -> Callable[[], Api]:
    return lambda: Api(served.public_url + served.prefix, "ghs_secret", sleep=lambda _: None)


def test_the_pull_request_is_found_by_its_branch(
    network: Network, api: Callable[[], Api], repository: Consumer
) -> None:
    with network.entered():
        remote = RemoteRest(api(), "acme/widget")
        (found,) = remote.pulls_from("octo", "feature")
        assert remote.pulls_from("octo", "other") == []
    assert (found.number, found.head_sha, found.head_repository) == (7, repository.head_sha, "octo/widget")


def test_ancestry_parents_files_and_changes_are_what_git_says(
    network: Network, api: Callable[[], Api], repository: Consumer
) -> None:
    base, head = repository.base_sha, repository.head_sha
    made = Commits(base_sha=base, head_sha=head, measured_sha=head, base_reason="")
    with network.entered():
        remote = RemoteRest(api(), "acme/widget")
        assert remote.compare("main", head).merge_base == base
        assert remote.compare(base, "main").has_base_as_ancestor
        assert not remote.compare(head, "main").has_base_as_ancestor
        assert remote.parents(head) == [base]
        assert remote.read(base, "torchscan.toml").text == widget.CONFIG
        assert remote.read(base, ".github/torchscan.toml").is_absent
        assert remote.changed_paths(made, None) == ["bench/models.py"]


def test_artifacts_and_runs_are_listed(network: Network, api: Callable[[], Api], served: FakeGitHub) -> None:
    artifact = minimal("artifact", id=5, name="torchscan-evidence", size_in_bytes=9, expired=False)
    served.state.artifacts[5], served.state.artifact_runs[5] = artifact, 71
    run = {"head_sha": RUN.head_sha, "head_branch": RUN.head_branch, "path": RUN.path}
    first = minimal("workflow-run", id=71, created_at="2026-01-02T00:00:00Z", **run)
    first["head_repository"]["full_name"] = RUN.head_repository
    served.state.runs[71] = first
    with network.entered():
        store = RunStoreRest(api(), "acme/widget")
        (found,) = store.artifacts(71)
        assert store.artifacts(72) == []
        assert store.first_run_at(RUN) == "2026-01-02T00:00:00Z"
    assert (found.id, found.is_expired) == (5, False)


def test_a_status_and_a_check_run_are_written(
    network: Network, api: Callable[[], Api], served: FakeGitHub, repository: Consumer
) -> None:
    line = CommitStatus(name="torchscan", is_passed=True, is_known=True, headline="No change", text="### No change")
    with network.entered():
        checks = ChecksRest(api(), "acme/widget")
        checks.set_status(repository.head_sha, line)
        checks.create_check(repository.head_sha, line)
    (status,), (check,) = served.state.statuses, served.state.check_runs.values()
    assert (status["state"], status["context"], status["sha"]) == ("success", "torchscan", repository.head_sha)
    assert (check["conclusion"], check["output"]["summary"]) == ("success", "### No change")


def test_a_token_that_cannot_write_is_told_which_permission(
    network: Network, api: Callable[[], Api], served: FakeGitHub, repository: Consumer
) -> None:
    served.state.can_write = False
    line = CommitStatus(name="torchscan", is_passed=True, is_known=True, headline="h")
    with network.entered(), pytest.raises(RefusedError) as refused:
        ChecksRest(api(), "acme/widget").set_status(repository.head_sha, line)
    assert refused.value.status == 403
