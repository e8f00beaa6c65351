from __future__ import annotations

from typing import Any

import pytest

from ci_action.core.event import Event
from ci_action.core.event_file import MEASURING_EVENTS, parse_event
from ci_action.errors import EventError

HEAD, BASE, MERGE, ZEROS = "a" * 40, "b" * 40, "c" * 40, "0" * 40


def pull_payload(**head: Any) -> dict[str, Any]:
    return {
        "number": 7,
        "repository": {"default_branch": "trunk"},
        "pull_request": {
            "number": 7,
            "head": {"sha": HEAD, "ref": "fix", "repo": {"full_name": "octo/zoo"}, **head},
            "base": {"sha": BASE, "ref": "main", "repo": {"full_name": "octo/zoo"}},
        },
    }


def read(name: str, payload: dict[str, Any]) -> Event:
    return parse_event(name, payload, repository="octo/zoo", sha=MERGE)


def test_pull_request_names_its_sides() -> None:
    event = read("pull_request", pull_payload())

    assert event.pull_request is not None
    assert (event.sha, event.default_branch, event.base_hint) == (MERGE, "trunk", None)
    assert (event.pull_request.number, event.pull_request.head_sha, event.pull_request.is_fork) == (7, HEAD, False)


@pytest.mark.parametrize("repo", [{"full_name": "mallory/zoo"}, None])
def test_another_repository_and_a_deleted_one_are_forks(repo: dict[str, str] | None) -> None:
    pull = read("pull_request", pull_payload(repo=repo)).pull_request

    assert pull is not None
    assert pull.is_fork


@pytest.mark.parametrize("name", ["pull_request_target", "workflow_run", "issue_comment"])
def test_dangerous_events_are_refused_and_told_of_the_split(name: str) -> None:
    with pytest.raises(EventError, match=r"mode: publish") as caught:
        read(name, pull_payload())
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["release", "check_suite", "pull_request_review", "", "x" * 500])
def test_every_other_event_is_refused(name: str) -> None:
    with pytest.raises(
        EventError, match="Measuring events: pull_request, push, merge_group, schedule, workflow_dispatch"
    ):
        read(name, {})


def test_refusal_comes_before_the_payload_is_looked_at() -> None:
    with pytest.raises(EventError, match="may not measure"):
        parse_event("pull_request_target", None, repository="?", sha="?")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("payload", "base", "skips"),
    [
        ({"before": BASE, "after": HEAD}, BASE, False),
        ({"before": ZEROS, "after": HEAD, "created": True}, None, False),
        ({"before": BASE, "after": ZEROS}, None, True),
        ({"before": BASE, "after": HEAD, "deleted": True}, None, True),
        ({"before": ZEROS, "after": HEAD, "ref": "refs/tags/v1"}, None, False),
    ],
    ids=["push", "new branch", "deletion", "said to be deleted", "tag"],
)
def test_push(payload: dict[str, Any], base: str | None, skips: bool) -> None:
    event = read("push", payload)

    assert (event.base_hint, event.skip_reason is not None) == (base, skips)
    assert event.sha == MERGE


def test_merge_group_has_both_commits_and_no_pull_request() -> None:
    event = read("merge_group", {"merge_group": {"base_sha": BASE, "head_sha": HEAD, "head_ref": "refs/heads/x"}})

    assert (event.base_hint, event.sha, event.pull_request) == (BASE, HEAD, None)


@pytest.mark.parametrize("name", ["schedule", "workflow_dispatch"])
def test_events_without_a_base_need_none(name: str) -> None:
    assert read(name, {"inputs": None}).base_hint is None


def test_a_dispatch_may_name_its_base() -> None:
    assert read("workflow_dispatch", {"inputs": {"base": "release/1.x"}}).base_hint == "release/1.x"


@pytest.mark.parametrize("base", ["--upload-pack=x", "a..b", "a b", "a\nb", "x" * 300, "HEAD@{1}", 5])
def test_a_dispatch_input_that_is_no_ref_is_refused(base: object) -> None:
    with pytest.raises(EventError, match=r"inputs\.base"):
        read("workflow_dispatch", {"inputs": {"base": base}})


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"sha": "abc"}, "pull_request.head.sha"),
        ({"sha": None}, "pull_request.head.sha"),
        ({"ref": "-x"}, "pull_request.head.ref"),
        ({"repo": {"full_name": "a/b/c"}}, "pull_request.head.repo.full_name"),
        ({"repo": []}, "pull_request.head.repo"),
    ],
)
def test_malformed_payload_names_the_field(change: dict[str, Any], where: str) -> None:
    with pytest.raises(EventError, match=where):
        read("pull_request", pull_payload(**change))


@pytest.mark.parametrize("number", [0, -1, True, "7", 2**60, None])
def test_pull_request_number_is_a_positive_integer(number: object) -> None:
    payload = pull_payload()
    payload["pull_request"]["number"] = payload["number"] = number

    with pytest.raises(EventError, match=r"pull_request\.number"):
        read("pull_request", payload)


def test_measuring_events_are_an_allow_list() -> None:
    assert MEASURING_EVENTS == ("pull_request", "push", "merge_group", "schedule", "workflow_dispatch")
