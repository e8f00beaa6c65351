"""What a publishing run asks GitHub, over real HTTP: the token stays with the API, odd answers are no evidence."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.fake_remote import RUN
from support.scripted_server import Reply, Scripted, scripted_server

from ci_action.core.trigger import NEVER
from ci_action.edges.github.api import Api
from ci_action.edges.github.checks import ChecksRest
from ci_action.edges.github.remote import RemoteRest
from ci_action.edges.github.run_store import RunStoreRest
from ci_action.errors import ActionError, EvidenceError, GitError, PublishError
from ci_action.ports import Artifact, CommitStatus

SHA, OTHER = "a" * 40, "b" * 40
SIDE: dict[str, Any] = {"sha": SHA, "ref": "feature", "repo": {"full_name": "octo/widget"}}
PULL = {"number": 7, "head": SIDE, "base": {**SIDE, "ref": "main", "repo": {"full_name": "acme/widget"}}}


def api(server: Scripted) -> Api:
    return Api(server.url, "ghs_secret", budget_seconds=1000, sleep=lambda _: None)


def remote(server: Scripted) -> RemoteRest:
    return RemoteRest(api(server), "acme/widget")


def runs(server: Scripted) -> RunStoreRest:
    return RunStoreRest(api(server), "acme/widget")


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as packed:
        packed.writestr("evidence.json", "{}")
    return target.getvalue()


def artifact(**fields: Any) -> Artifact:
    return Artifact(**{"id": 5, "name": "torchscan-evidence", "size_bytes": 100, "is_expired": False} | fields)


def test_pull_requests_are_asked_for_by_owner_and_branch() -> None:
    with scripted_server(Reply(body=[PULL])) as server:
        (found,) = remote(server).pulls_from("octo", "a/b&c")
    assert (found.number, found.head_repository, found.base_ref) == (7, "octo/widget", "main")
    assert server.asked[0].path == "/repos/acme/widget/pulls?state=open&head=octo%3Aa%2Fb%26c&per_page=100"


def test_a_pull_request_in_another_form_proves_nothing() -> None:
    odd: list[Any] = [None, {}, {**PULL, "number": "7"}, {**PULL, "head": {**SIDE, "sha": "main"}}]
    with scripted_server(Reply(body=odd)) as server:
        assert remote(server).pulls_from("octo", "x") == []


def test_a_comparison_is_read_and_its_branch_is_one_part_of_the_path() -> None:
    with scripted_server(
        Reply(body={"status": "ahead", "merge_base_commit": {"sha": SHA}, "base_commit": {"sha": OTHER}})
    ) as server:
        found = remote(server).compare("release/../1", OTHER)
    assert (found.merge_base, found.base_sha, found.has_base_as_ancestor) == (SHA, OTHER, True)
    assert server.asked[0].path == f"/repos/acme/widget/compare/release%2F..%2F1...{OTHER}?per_page=1"


@pytest.mark.parametrize(
    "body",
    [{}, {"status": "ahead"}, {"status": "ahead", "merge_base_commit": {"sha": "main"}}, [], {"status": "far"}],
)
def test_a_comparison_in_another_form_is_an_error(body: Any) -> None:
    with scripted_server(Reply(body=body)) as server, pytest.raises(PublishError):
        remote(server).compare("main", SHA)


def test_parents_are_read_and_a_forgotten_commit_has_none() -> None:
    with scripted_server(Reply(body={"parents": [{"sha": SHA}, {"sha": OTHER}]}), Reply(404, {})) as server:
        assert remote(server).parents(SHA) == [SHA, OTHER]
        assert remote(server).parents(SHA) == []


def test_a_commit_that_is_a_name_never_reaches_a_url() -> None:
    with scripted_server(Reply(body={})) as server:
        for ask in (lambda: remote(server).read("main", "x"), lambda: remote(server).parents("../../user")):
            with pytest.raises(GitError):
                ask()
    assert server.asked == []


def test_artifacts_come_from_every_page() -> None:
    item = {"id": 5, "name": "torchscan-evidence", "size_in_bytes": 9, "expired": False, "digest": f"sha256:{'0' * 64}"}
    with scripted_server(Reply(body={"artifacts": [item]})) as server:
        server.script.insert(
            0,
            Reply(
                body={"artifacts": [{**item, "expired": True, "digest": None}]},
                headers={"Link": f'<{server.url}/repos/acme/widget/more>; rel="next"'},
            ),
        )
        first, second = runs(server).artifacts(71)
    assert (first.is_expired, first.sha256, second.is_expired, second.sha256) == (True, "", False, "0" * 64)


def test_the_archive_is_fetched_without_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given a .netrc that would give the other host a password
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    data = zipped()
    with scripted_server(Reply(raw=data)) as blobs, scripted_server(Reply()) as server:
        server.script = [Reply(302, headers={"Location": f"{blobs.url}/blob?sig=x"})]
        found = runs(server).archive(artifact(sha256=hashlib.sha256(data).hexdigest()))
    assert found == data
    assert server.asked[0].headers["authorization"] == "Bearer ghs_secret"
    assert "authorization" not in blobs.asked[0].headers


def test_an_address_that_is_good_for_a_minute_is_asked_for_anew() -> None:
    data = zipped()
    with scripted_server(Reply(403), Reply(raw=data)) as blobs, scripted_server(Reply()) as server:
        server.script = [Reply(302, headers={"Location": f"{blobs.url}/blob"})]
        assert runs(server).archive(artifact()) == data
    assert len(server.asked) == 2


REFUSED: dict[str, tuple[Callable[[str], Reply], Reply, Artifact]] = {
    "another digest": (
        lambda url: Reply(302, headers={"Location": url}),
        Reply(raw=zipped()),
        artifact(sha256="1" * 64),
    ),
    "too large by its own word": (lambda url: Reply(500), Reply(), artifact(size_bytes=6_000_000)),
    "too large in truth": (lambda url: Reply(302, headers={"Location": url}), Reply(raw=b"0" * 5_100_000), artifact()),
    "expired": (lambda _: Reply(410, {"message": "Gone"}), Reply(), artifact()),
    "no redirect": (lambda _: Reply(200, raw=zipped()), Reply(), artifact()),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_an_archive_from_anywhere_else_is_refused(kind: str) -> None:
    answer, blob, wanted = REFUSED[kind]
    with scripted_server(blob) as blobs, scripted_server(Reply()) as server:
        server.script = [answer(f"{blobs.url}/blob")]
        with pytest.raises(ActionError) as refused:
            runs(server).archive(wanted)
    assert isinstance(refused.value, PublishError | EvidenceError)
    assert not [asked for asked in blobs.asked if "authorization" in asked.headers]


@pytest.mark.parametrize("place", ["http://evil.example/x", "file:///etc/passwd", "//evil.example/x", "ftp://x/y"])
def test_an_archive_at_an_address_without_tls_is_not_asked_for(place: str) -> None:
    answer = Reply(302, headers={"Location": place})
    with scripted_server(answer) as server, pytest.raises(PublishError, match="not https"):
        runs(server).archive(artifact())
    assert len(server.asked) == 1


def test_a_redirect_of_a_redirect_is_not_followed() -> None:
    with scripted_server(Reply(raw=zipped())) as inside, scripted_server(Reply()) as blobs, scripted_server() as server:
        blobs.script = [Reply(302, headers={"Location": inside.url})]
        server.script = [Reply(302, headers={"Location": blobs.url})]
        with pytest.raises(PublishError):
            runs(server).archive(artifact())
    assert inside.asked == []


def test_the_first_run_of_a_head_is_the_oldest_of_its_workflow() -> None:
    def item(at: str, **fields: Any) -> dict[str, Any]:
        home = {"head_branch": RUN.head_branch, "head_repository": {"full_name": RUN.head_repository}}
        return {"head_sha": RUN.head_sha, "path": RUN.path, "created_at": at, **home} | fields

    found = [
        item("2026-01-03T00:00:00Z"),
        item("2026-01-02T00:00:00Z"),
        item("2026-01-01T00:00:00Z", path=".github/workflows/other.yml"),
        item("2025-01-01T00:00:00Z", head_sha=OTHER),
        item("2025-01-01T00:00:00Z", head_branch="another"),
        item("2025-01-01T00:00:00Z", head_repository={"full_name": "acme/widget"}),
        item("2025-01-01T00:00:00Z", head_repository=None),
        item("yesterday"),
    ]
    with scripted_server(Reply(body={"workflow_runs": found}), Reply(body={"workflow_runs": []})) as server:
        assert runs(server).first_run_at(RUN) == "2026-01-02T00:00:00Z"
        assert runs(server).first_run_at(RUN) == NEVER


@pytest.mark.parametrize(
    ("passed", "known", "state"), [(True, True, "success"), (False, True, "failure"), (False, False, "error")]
)
def test_a_status_says_what_is_known(passed: bool, known: bool, state: str) -> None:
    status = CommitStatus(name="torchscan", is_passed=passed, is_known=known, headline="é" * 200, url="https://x/y")
    with scripted_server(Reply(201, {})) as server:
        ChecksRest(api(server), "acme/widget").set_status(SHA, status)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", f"/repos/acme/widget/statuses/{SHA}")
    assert asked.body == {
        "state": state,
        "context": "torchscan",
        "description": f"{'é' * 139}…",
        "target_url": "https://x/y",
    }


def test_a_check_run_is_finished_and_within_bytes() -> None:
    status = CommitStatus(name="torchscan", is_passed=False, is_known=True, headline="h", text="é" * 40_000)
    with scripted_server(Reply(201, {})) as server:
        ChecksRest(api(server), "acme/widget").create_check(SHA, status)
    body = server.asked[0].body
    assert (body["status"], body["conclusion"], body["head_sha"]) == ("completed", "failure", SHA)
    assert len(body["output"]["summary"].encode()) <= 60_000
