"""The one comment, over real HTTP: found on the last page, never doubled, never an older word over a newer one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.rig.network import Network
from support.rig.server import FakeGitHub
from support.rig.state import Fault, PullRequestState

from ci_action.core.marker import make_marker
from ci_action.edges.github.api import Api
from ci_action.edges.github.client import GitHubRest
from ci_action.errors import PublishError
from ci_action.sticky import Posted, post

pytestmark = pytest.mark.e2e

HEAD, NEXT_HEAD = "a" * 40, "c" * 40


def body(text: str, *, head: str = HEAD, run: int = 1) -> str:
    marker = make_marker(
        workflow_path=".github/workflows/torchscan.yml",
        comment_id="default",
        head_sha=head,
        base_sha="b" * 40,
        run_id=run,
        run_attempt=1,
    )
    return f"{marker.line()}\n{text}"


@pytest.fixture
def open_pull_request(github: FakeGitHub) -> FakeGitHub:
    github.state.pull_requests[7] = PullRequestState(number=7, head_sha=HEAD, base_sha="b" * 40)
    return github


Poster = Callable[[str], Posted]


def poster(network: Network, url: str) -> Poster:
    """Post the way a job does, with a client and a waiting budget of its own."""

    def write(text: str) -> Posted:
        with network.entered():
            return post(GitHubRest(Api(url, "ghs_secret", sleep=lambda _: None), "acme/widget"), 7, text)

    return write


@pytest.fixture
def write(network: Network, open_pull_request: FakeGitHub) -> Poster:
    return poster(network, open_pull_request.public_url)


def texts(github: FakeGitHub) -> list[str]:
    return [comment["body"].partition("\n")[2] for comment in github.state.comments_of(7)]


def test_our_comment_is_found_beyond_the_first_page(open_pull_request: FakeGitHub, write: Poster) -> None:
    for number in range(100):
        open_pull_request.state.add_comment(7, f"talk {number}", author=("octocat", 583231))
    write(body("one"))
    assert texts(open_pull_request)[100:] == ["one"]
    write(body("two", run=2))
    assert texts(open_pull_request)[100:] == ["two"]


def test_somebody_elses_comment_with_our_marker_is_left_alone(open_pull_request: FakeGitHub, write: Poster) -> None:
    open_pull_request.state.add_comment(7, body("planted"), author=("mallory", 666))
    write(body("ours"))
    assert texts(open_pull_request) == ["planted", "ours"]


def test_a_quoted_marker_is_not_ours(open_pull_request: FakeGitHub, write: Poster) -> None:
    open_pull_request.state.add_comment(7, "> " + body("quoted"))
    write(body("ours"))
    assert len(texts(open_pull_request)) == 2


def test_a_run_of_an_older_head_says_nothing(open_pull_request: FakeGitHub, write: Poster) -> None:
    open_pull_request.state.pull_requests[7].head_sha = NEXT_HEAD
    write(body("of the new head", head=NEXT_HEAD, run=2))
    posted = write(body("of the old head", run=1))
    assert texts(open_pull_request) == ["of the new head"]
    assert NEXT_HEAD[:7] in posted.note


def test_a_comment_of_an_older_head_is_marked_as_outdated(open_pull_request: FakeGitHub, write: Poster) -> None:
    # given a first head's comment, and a run of the second that ends after a third was pushed
    facts = "### No change\n\nGate **passed** · head"
    write(body(facts))
    open_pull_request.state.pull_requests[7].head_sha = "e" * 40
    posted = write(body(facts, head=NEXT_HEAD, run=2))
    (text,) = texts(open_pull_request)
    mark = f"**Outdated**: measured `{HEAD[:7]}`, head is now `eeeeeee`. "
    assert text == f"### No change\n\n{mark}Gate **passed** · head"
    assert posted.url is None


def test_an_older_run_of_the_same_head_says_nothing(open_pull_request: FakeGitHub, write: Poster) -> None:
    write(body("newer", run=9))
    write(body("older", run=8))
    assert texts(open_pull_request) == ["newer"]


def test_of_jobs_of_one_run_that_share_an_id_all_but_the_first_are_told(
    open_pull_request: FakeGitHub, network: Network
) -> None:
    # given the legs of a matrix, two at once and two later, whose reports differ
    open_pull_request.state.faults.append(Fault(method="GET", path="/comments$", times=2, delay_seconds=0.2))
    write = poster(network, open_pull_request.public_url)
    with ThreadPoolExecutor(2) as jobs:
        at_once = list(jobs.map(write, [body("linux"), body("mac")]))
    later = [write(body("windows")), write(body("gpu"))]
    assert sum(posted.replaces_job for posted in at_once) >= 1
    assert all(posted.replaces_job for posted in later)
    assert texts(open_pull_request) == ["gpu"]


def test_a_deleted_comment_is_written_anew(open_pull_request: FakeGitHub, write: Poster) -> None:
    write(body("one"))
    open_pull_request.state.faults.append(Fault(method="PATCH", status=404, message="Not Found"))
    write(body("two", run=2))
    assert texts(open_pull_request)[-1] == "two"


def test_jobs_that_race_leave_one_comment(open_pull_request: FakeGitHub, network: Network) -> None:
    # given four jobs whose first look at the list finds nothing, since it is slow
    open_pull_request.state.faults.append(Fault(method="GET", path="/comments$", times=4, delay_seconds=0.2))
    with ThreadPoolExecutor(4) as jobs:
        list(jobs.map(poster(network, open_pull_request.public_url), [body("same")] * 4))
    assert texts(open_pull_request) == ["same"]


@pytest.mark.parametrize("is_carried_out", [False, True], ids=["refused", "answer lost"])
@pytest.mark.parametrize("status", [500, 502, 503, 429])
@pytest.mark.parametrize("skip", range(4))
@pytest.mark.parametrize("first", [True, False], ids=["creating", "updating"])
def test_a_fault_at_any_request_leaves_one_right_comment_or_one_clear_error(
    open_pull_request: FakeGitHub, network: Network, first: bool, skip: int, status: int, is_carried_out: bool
) -> None:
    write = poster(network, open_pull_request.own_url)
    if not first:
        write(body("one"))
    open_pull_request.state.faults.append(
        Fault(path="/repos/", skip=skip, status=status, is_carried_out=is_carried_out)
    )
    try:
        write(body("two", run=2))
    except PublishError:
        assert texts(open_pull_request) in (["one"], ["two"], [])
    else:
        assert texts(open_pull_request) == ["two"]


@pytest.mark.parametrize("skip", range(4))
def test_a_dropped_connection_at_any_request_leaves_one_comment(
    open_pull_request: FakeGitHub, network: Network, skip: int
) -> None:
    fault = Fault(path="/repos/", skip=skip, drops_connection=True, is_carried_out=True)
    open_pull_request.state.faults.append(fault)
    poster(network, open_pull_request.own_url)(body("one"))
    assert texts(open_pull_request) == ["one"]
