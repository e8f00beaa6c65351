"""The action's own REST client held against GitHub's descriptions: github.com and Enterprise Server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from support.rig.network import Network
from support.rig.server import FakeGitHub
from support.rig.state import Fault, PullRequestState

from ci_action.edges.github.api import Api
from ci_action.edges.github.client import GitHubRest
from ci_action.errors import PublishError
from ci_action.ports import PullState, RefusedError, UncertainError

pytestmark = pytest.mark.e2e

SHA = "a" * 40
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@pytest.fixture(params=["github", "ghes"])
def served(request: pytest.FixtureRequest) -> FakeGitHub:
    github: FakeGitHub = request.getfixturevalue(request.param)
    github.state.pull_requests[7] = PullRequestState(number=7, head_sha=SHA, base_sha="b" * 40)
    return github


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def client(network: Network, served: FakeGitHub, waited: list[float]) -> Iterator[GitHubRest]:
    """Everything that the test does happens inside the rig's network; waiting is noted instead of done."""
    with network.entered():
        api = Api(served.public_url + served.prefix, "ghs_secret", sleep=waited.append)
        yield GitHubRest(api, "acme/widget")


def test_a_comment_is_created_found_updated_and_deleted(client: GitHubRest, served: FakeGitHub) -> None:
    created = client.create_comment(7, "one")
    assert client.comments(7) == [created]
    updated = client.update_comment(created.id, "two")
    assert updated is not None
    assert (updated.id, updated.body, updated.author_login) == (created.id, "two", "github-actions[bot]")
    client.delete_comment(created.id)
    assert client.update_comment(created.id, "three") is None
    assert served.state.comments == {}


def test_all_pages_of_comments_are_read(client: GitHubRest, served: FakeGitHub) -> None:
    for number in range(205):
        served.state.add_comment(7, f"comment {number}")
    assert [comment.body for comment in client.comments(7)] == [f"comment {number}" for number in range(205)]
    assert len([one for one in served.state.journal if one.method == "GET"]) == 3


def test_the_head_is_read_live_and_every_request_names_us_and_the_api_version(
    client: GitHubRest, served: FakeGitHub
) -> None:
    assert client.pull_state(7) == PullState(head_sha=SHA, is_open=True, is_locked=False)
    headers = served.state.journal[-1].headers
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["user-agent"].startswith("torchscan-ci/")
    assert headers["authorization"] == "Bearer ghs_secret"


def test_a_read_only_token_is_a_refusal_that_names_the_permission(client: GitHubRest, served: FakeGitHub) -> None:
    served.state.can_write = False
    with pytest.raises(RefusedError) as refusal:
        client.create_comment(7, "one")
    assert (refusal.value.status, refusal.value.permissions) == (403, "issues=write; pull_requests=write")
    assert "ghs_secret" not in str(refusal.value)


Plant = Callable[[], Fault]
PASSING: dict[str, Plant] = {
    "502 twice": lambda: Fault(status=502, times=2),
    "secondary limit": lambda: Fault(status=403, message=SECONDARY),
    "429 with a time": lambda: Fault(status=429, headers={"Retry-After": "7"}),
}


@pytest.mark.parametrize("plant", PASSING.values(), ids=list(PASSING))
def test_a_passing_fault_is_waited_out(
    client: GitHubRest, served: FakeGitHub, waited: list[float], plant: Plant
) -> None:
    served.state.add_comment(7, "there")
    served.state.faults.append(plant())
    assert [comment.body for comment in client.comments(7)] == ["there"]
    assert 0 < sum(waited) <= 180


def test_the_server_says_how_long_to_wait(client: GitHubRest, served: FakeGitHub, waited: list[float]) -> None:
    served.state.faults.append(Fault(status=429, headers={"Retry-After": "7"}))
    client.comments(7)
    assert 7 <= waited[0] < 10


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_creation_whose_fate_is_unknown_is_not_sent_again(
    client: GitHubRest, served: FakeGitHub, status: int
) -> None:
    served.state.faults.append(Fault(method="POST", status=status))
    with pytest.raises(UncertainError):
        client.create_comment(7, "one")
    assert len([one for one in served.state.journal if one.method == "POST"]) == 1


def test_a_server_that_stays_down_is_given_up_within_the_budget(
    client: GitHubRest, served: FakeGitHub, waited: list[float]
) -> None:
    served.state.faults.append(Fault(status=502, times=1000))
    with pytest.raises(PublishError, match=r"GET /.*comments"):
        client.comments(7)
    assert sum(waited) <= 180


@contextmanager
def unproxied(network: Network, served: FakeGitHub) -> Iterator[GitHubRest]:
    """Straight to the fake: Prism would mend or refuse what these answers get wrong."""
    with network.entered():
        yield GitHubRest(Api(served.own_url + served.prefix, "ghs_secret", sleep=lambda _: None), "acme/widget")


def test_a_dropped_connection_is_tried_again(network: Network, served: FakeGitHub) -> None:
    served.state.add_comment(7, "there")
    served.state.faults.append(Fault(drops_connection=True))
    with unproxied(network, served) as client:
        assert [comment.body for comment in client.comments(7)] == ["there"]


@pytest.mark.parametrize("body", [b'[{"id": 1, "bo', b'{"message": "x"}', b'[{"id": "x"}]', b"[null]", b"\xff\xfe"])
def test_an_answer_of_another_form_is_one_clear_error(network: Network, served: FakeGitHub, body: bytes) -> None:
    served.state.faults.append(Fault(method="GET", times=1000, raw_body=body))
    with unproxied(network, served) as client, pytest.raises(PublishError):
        client.comments(7)


def test_a_next_page_on_another_host_is_not_followed(network: Network, served: FakeGitHub) -> None:
    link = {"Link": '<http://192.0.2.1/steal>; rel="next"'}
    served.state.faults.append(Fault(method="GET", raw_body=b"[]", headers=link))
    with unproxied(network, served) as client, pytest.raises(PublishError, match="another place"):
        client.comments(7)
