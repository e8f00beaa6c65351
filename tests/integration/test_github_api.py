"""The HTTP client against a server that misbehaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.scripted_server import Reply, Scripted, scripted_server

from ci_action.edges.github.api import Api
from ci_action.edges.github.client import GitHubRest
from ci_action.errors import PublishError
from ci_action.ports import Author, RefusedError, UncertainError

TOKEN = "ghs_sekrit"
COMMENT = {"id": 5, "body": "b", "user": {"id": 1, "login": "x"}, "html_url": "https://github.com/c/5"}
FAULTY = Reply(502, raw=b"<html>bad gateway")


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted_server(Reply(200, {"ok": True})) as running:
        yield running


def client(server: Scripted, waited: list[float], prefix: str = "", **options: float) -> Api:
    return Api(server.url + prefix, TOKEN, sleep=waited.append, **options)


def github(server: Scripted, waited: list[float], **options: bool) -> GitHubRest:
    return GitHubRest(client(server, waited), "o/r", **options)


def test_a_request_says_who_asks_and_in_which_version(server: Scripted, waited: list[float]) -> None:
    assert client(server, waited).call("GET", "/x").body == {"ok": True}
    headers = server.asked[0].headers
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["accept"] == "application/vnd.github+json"
    assert headers["x-github-api-version"] == "2022-11-28"


def test_a_netrc_does_not_replace_the_token(
    server: Scripted, waited: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("default login someone password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    client(server, waited).call("GET", "/x")
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "fault",
    [FAULTY, Reply(500), Reply(503), Reply(drop=True), Reply(200, raw=b'{"a": ', cut=True), Reply(200, raw=b"{trunc")],
    ids=["502", "500", "503", "reset", "cut", "not json"],
)
def test_a_passing_fault_is_waited_out(server: Scripted, waited: list[float], fault: Reply) -> None:
    server.script = [fault, fault, Reply(200, [1])]
    assert client(server, waited).call("GET", "/x").body == [1]
    assert waited[:2] == [1, 2]


def test_a_lasting_502_ends_in_one_sentence_within_the_budget(server: Scripted, waited: list[float]) -> None:
    server.script = [FAULTY]
    with pytest.raises(PublishError, match=r"GET /x failed \(status 502\).*run the job again") as caught:
        client(server, waited, budget_seconds=10).call("GET", "/x")
    assert sum(waited) <= 10
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (Reply(429, headers={"Retry-After": "7"}), 7),
        (Reply(403, {"message": "You have exceeded a secondary rate limit"}), 60),
        (Reply(403, headers={"Retry-After": "3"}), 3),
        (
            Reply(
                403,
                headers={
                    "X-RateLimit-Remaining": "0",
                    "X-RateLimit-Reset": "1767225630",
                    "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
                },
            ),
            30,
        ),
        (
            Reply(
                429,
                headers={
                    "Retry-After": "Thu, 01 Jan 2026 00:00:20 GMT",
                    "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
                },
            ),
            20,
        ),
    ],
    ids=["seconds", "secondary", "403 with seconds", "reset", "date"],
)
def test_a_pace_limit_is_waited_out_as_the_server_asks(
    server: Scripted, waited: list[float], reply: Reply, seconds: float
) -> None:
    server.script = [reply, Reply(200, {})]
    client(server, waited).call("POST", "/x", body={}, is_repeatable=False)
    assert waited == [seconds]


def test_a_plain_refusal_is_never_repeated(server: Scripted, waited: list[float]) -> None:
    server.script = [
        Reply(
            403,
            {"message": "Resource not accessible by integration"},
            {"X-Accepted-GitHub-Permissions": "pull_requests=write", "X-RateLimit-Remaining": "99"},
        )
    ]
    with pytest.raises(RefusedError, match="403 \\(Resource not accessible by integration\\)") as caught:
        client(server, waited).call("POST", "/x", body={})
    assert (caught.value.status, caught.value.permissions) == (403, "pull_requests=write")
    assert (len(server.asked), waited) == (1, [])


def test_a_wait_beyond_the_budget_is_refused_at_once(server: Scripted, waited: list[float]) -> None:
    server.script = [Reply(429, headers={"Retry-After": "86400"})]
    with pytest.raises(PublishError, match="86400 s, more than the 180 s"):
        client(server, waited).call("GET", "/x")
    assert waited == []


@pytest.mark.parametrize("fault", [FAULTY, Reply(drop=True)], ids=["502", "reset"])
def test_a_creation_whose_fate_is_unknown_is_not_sent_twice(
    server: Scripted, waited: list[float], fault: Reply
) -> None:
    server.script = [fault]
    with pytest.raises(UncertainError):
        github(server, waited).create_comment(7, "x")
    assert len([asked for asked in server.asked if asked.method == "POST"]) == 1


def test_pages_are_followed_by_link_and_only_on_the_same_host(server: Scripted, waited: list[float]) -> None:
    following = f'<{server.url}/repos/o/r/issues/7/comments?page=2>; rel="next", <{server.url}/x>; rel="last"'
    server.script = [Reply(200, [COMMENT], {"Link": following}), Reply(200, [{**COMMENT, "id": 6}])]
    assert [comment.id for comment in github(server, waited).comments(7)] == [5, 6]
    assert server.asked[1].path == "/repos/o/r/issues/7/comments?page=2"


@pytest.mark.parametrize("link", ["http://evil.example/x", "https://127.0.0.1/x", "//evil.example/x"])
def test_a_hostile_link_gets_no_request_and_no_token(server: Scripted, waited: list[float], link: str) -> None:
    server.script = [Reply(200, [COMMENT], {"Link": f'<{link}>; rel="next"'})]
    with pytest.raises(PublishError, match="points to another place"):
        github(server, waited).comments(7)
    assert len(server.asked) == 1


def test_a_redirect_within_the_api_is_followed_and_none_out_of_it(server: Scripted, waited: list[float]) -> None:
    server.script = [Reply(301, headers={"Location": f"{server.url}/api/v3/repositories/1"}), Reply(200, {"id": 1})]
    assert client(server, waited, "/api/v3").call("GET", "/repos/o/r").body == {"id": 1}
    for target in (f"{server.url}/elsewhere", "http://127.0.0.1:1/api/v3/x"):
        server.script = [Reply(302, headers={"Location": target})]
        with pytest.raises(PublishError, match="points to another place"):
            client(server, waited, "/api/v3").call("GET", "/repos/o/r")


def test_endless_redirects_end(server: Scripted, waited: list[float]) -> None:
    server.script = [Reply(302, headers={"Location": f"{server.url}/x"})]
    with pytest.raises(PublishError):
        client(server, waited).call("GET", "/x")
    assert len(server.asked) < 10


@pytest.mark.parametrize(
    "body", [{}, [1], [{"id": "5"}], [{"id": True}], "text", None, [{"user": 3, "id": 1}]], ids=repr
)
def test_an_answer_of_another_form_is_one_sentence(server: Scripted, waited: list[float], body: object) -> None:
    server.script = [Reply(200, raw=b"null") if body is None else Reply(200, body)]
    with pytest.raises(PublishError, match="GitHub"):
        github(server, waited).comments(7)


def test_a_comment_of_a_deleted_user_is_read(server: Scripted, waited: list[float]) -> None:
    server.script = [Reply(200, [{**COMMENT, "user": None, "body": None}])]
    (comment,) = github(server, waited).comments(7)
    assert (comment.author_id, comment.author_login, comment.body) == (None, "", "")


def test_a_comment_that_is_gone_is_no_error(server: Scripted, waited: list[float]) -> None:
    server.script = [Reply(404, {"message": "Not Found"})]
    assert github(server, waited).update_comment(5, "x") is None
    github(server, waited).delete_comment(5)


def test_who_we_are(server: Scripted, waited: list[float]) -> None:
    assert github(server, waited).author() == Author(id=None, login="github-actions[bot]")
    assert server.asked == []
    server.script = [Reply(200, {"id": 12, "login": "octocat"})]
    assert github(server, waited, is_job_token=False, is_installation=False).author() == Author(12, "octocat")
    server.script = [Reply(403, {"message": "no"})]
    assert github(server, waited, is_job_token=False, is_installation=False).author() is None


def test_no_error_holds_the_token(server: Scripted, waited: list[float]) -> None:
    replies = [Reply(404, {"message": "no"}), Reply(drop=True), FAULTY, Reply(200, raw=b"{"), Reply(401)]
    for reply in replies:
        server.script = [reply]
        with pytest.raises(PublishError) as caught:
            client(server, waited, budget_seconds=3).call("GET", "/x")
        chain = [caught.value, caught.value.__cause__, caught.value.__context__]
        assert TOKEN not in " ".join(map(repr, chain))


def test_an_endless_body_is_cut(server: Scripted, waited: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_action.edges.github.api.BODY_BYTES", 1000)
    server.script = [Reply(200, "x" * 200_000)]
    with pytest.raises(PublishError):
        client(server, waited, budget_seconds=1).call("GET", "/x")
