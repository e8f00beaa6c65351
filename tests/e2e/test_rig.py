"""The rig itself: what the fake answers passes Prism, and Prism refuses what GitHub's description forbids."""

from __future__ import annotations

import io
import zipfile

import pytest
import requests
from support.rig.network import Network
from support.rig.openapi import minimal
from support.rig.prism import Prism
from support.rig.server import FakeGitHub
from support.rig.state import Fault, PullRequestState, user

pytestmark = pytest.mark.e2e

HEADERS = {"Authorization": "Bearer ghs_x", "Accept": "application/vnd.github+json"}
SHA = "a" * 40


class Client:
    """Requests from inside the rig's network."""

    def __init__(self, network: Network, base: str) -> None:
        self.network = network
        self.base = base

    def __call__(self, method: str, path: str, **options: object) -> requests.Response:
        with self.network.entered():
            return requests.request(method, self.base + path, timeout=10, **{"headers": HEADERS, **options})


@pytest.fixture(params=["github", "ghes"])
def served(request: pytest.FixtureRequest) -> FakeGitHub:
    """Both descriptions, one after the other."""
    github: FakeGitHub = request.getfixturevalue(request.param)
    return github


@pytest.fixture
def call(network: Network, served: FakeGitHub) -> Client:
    served.state.pull_requests[7] = PullRequestState(number=7, head_sha=SHA, base_sha="b" * 40, labels=["a", "b"])
    return Client(network, f"{served.public_url}{served.prefix}/repos/acme/widget")


def test_a_comment_lives_through_create_update_list_and_delete(call: Client) -> None:
    created = call("POST", "/issues/7/comments", json={"body": "one"})
    assert (created.status_code, created.json()["user"]["id"]) == (201, 41898282)
    path = f"/issues/comments/{created.json()['id']}"
    assert call("PATCH", path, json={"body": "two"}).json()["body"] == "two"
    assert [comment["body"] for comment in call("GET", "/issues/7/comments").json()] == ["two"]
    assert call("DELETE", path).status_code == 204
    assert call("GET", path).status_code == 404


def test_pages_are_linked_to_the_end(call: Client, served: FakeGitHub) -> None:
    for number in range(101):
        served.state.add_comment(7, f"comment {number}")
    first = call("GET", "/issues/7/comments?per_page=100")
    assert len(first.json()) == 100
    assert first.links["next"]["url"].startswith(served.public_url)
    with call.network.entered():
        second = requests.get(first.links["next"]["url"], headers=HEADERS, timeout=10)
    assert [comment["body"] for comment in second.json()] == ["comment 100"]
    assert "next" not in second.links


def test_every_reading_route_keeps_to_the_description(call: Client, served: FakeGitHub) -> None:
    served.state.permissions["octocat"] = "write"
    served.state.runs[5] = minimal("workflow-run", id=5, head_sha=SHA)
    label = minimal("labeled-issue-event", event="labeled", actor=user("octocat", 583231))
    served.state.pull_requests[7].timeline.append(label)
    paths = ("/pulls/7", "/pulls?head=acme:feature", f"/commits/{SHA}/pulls", "/issues/7/labels", "/issues/7/timeline")
    paths += ("/collaborators/octocat/permission", "/actions/runs/5", "/actions/runs/5/artifacts")
    assert [call("GET", path).status_code for path in paths] == [200] * len(paths)
    assert call("GET", "/pulls?head=mallory:feature").json() == []


def test_statuses_and_check_runs_are_kept(call: Client, served: FakeGitHub) -> None:
    status = {"state": "failure", "context": "torchscan", "description": "1 limit exceeded"}
    assert call("POST", f"/statuses/{SHA}", json=status).status_code == 201
    assert served.state.statuses == [{"sha": SHA, **status}]
    made = call("POST", "/check-runs", json={"name": "torchscan", "head_sha": SHA, "status": "in_progress"})
    done = call("PATCH", f"/check-runs/{made.json()['id']}", json={"status": "completed", "conclusion": "success"})
    assert done.json()["conclusion"] == "success"


def test_a_read_only_token_is_refused_with_the_permission_it_lacks(call: Client, served: FakeGitHub) -> None:
    served.state.can_write = False
    answer = call("POST", "/issues/7/comments", json={"body": "one"})
    assert answer.status_code == 403
    assert "pull_requests=write" in answer.headers["X-Accepted-GitHub-Permissions"]


def test_a_planted_fault_hits_as_often_as_asked(call: Client, served: FakeGitHub) -> None:
    served.state.faults.append(Fault(method="GET", path="comments", times=2, status=502))
    assert [call("GET", "/issues/7/comments").status_code for _ in range(3)] == [502, 502, 200]


def test_an_artifact_goes_up_through_twirp_and_shows_in_rest(call: Client, served: FakeGitHub) -> None:
    direct = Client(call.network, served.own_url)
    service = "/twirp/github.actions.results.api.v1.ArtifactService/"
    artifact = {"workflow_run_backend_id": "5", "name": "report"}
    upload = direct("POST", service + "CreateArtifact", json=artifact).json()["signed_upload_url"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index.html", "<p>")
    direct("PUT", upload.removeprefix(served.own_url), data=packed.getvalue(), headers={})
    direct("POST", service + "FinalizeArtifact", json=artifact)
    listed = call("GET", "/actions/runs/5/artifacts").json()["artifacts"]
    assert [entry["name"] for entry in listed] == ["report"]
    again = direct("POST", service + "CreateArtifact", json=artifact)
    assert again.status_code == 409


def test_prism_refuses_what_the_description_forbids(network: Network, proxied: tuple[FakeGitHub, Prism]) -> None:
    github, prism = proxied
    github.reset().pull_requests[7] = PullRequestState(number=7, head_sha=SHA, base_sha="b" * 40)
    call = Client(network, f"{prism.url}/repos/acme/widget")
    before = len(prism.violations())
    assert call("POST", "/issues/7/comments", json={"body": 5}).status_code == 422
    assert call("GET", "/no/such/path").status_code == 404
    github.state.comments[1] = {"issue_url": "x/issues/7", "id": "not a number"}
    assert call("GET", "/issues/7/comments").status_code == 500
    assert len(prism.violations()) - before >= 3


def test_nothing_outside_the_machine_can_be_reached(network: Network) -> None:
    if not network.is_isolated:
        pytest.skip("needs root to make a network namespace")
    with network.entered(), pytest.raises(requests.ConnectionError):
        requests.get("http://192.0.2.1/", timeout=2)
