"""One comment per workflow and id, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from support.fake_ports import BOT, FakeGitHub

from ci_action.core.marker import make_marker
from ci_action.errors import PublishError
from ci_action.ports import Author, RefusedError, UncertainError
from ci_action.sticky import post

HEAD = "a" * 40


def body(text: str = "new", *, run: int = 5, attempt: int = 1, head: str = HEAD, comment_id: str = "default") -> str:
    marker = make_marker(
        workflow_path=".github/workflows/x.yml",
        comment_id=comment_id,
        head_sha=head,
        base_sha="b" * 40,
        run_id=run,
        run_attempt=attempt,
    )
    return f"{marker.line()}\n{text}\n"


def raising(error: Exception) -> Callable[[], None]:
    def hook() -> None:
        raise error

    return hook


@pytest.fixture
def github() -> FakeGitHub:
    return FakeGitHub(head=HEAD)


def texts(github: FakeGitHub) -> list[str]:
    return [comment.body.split("\n")[1] for comment in github.stored]


def test_the_first_run_creates_and_the_second_updates(github: FakeGitHub) -> None:
    first = post(github, 7, body("one", run=1))
    second = post(github, 7, body("two", run=2))
    assert first.url == second.url
    assert texts(github) == ["two"]


def test_the_updating_path_takes_at_most_four_requests(github: FakeGitHub) -> None:
    github.add(body("old", run=1))
    post(github, 7, body())
    assert github.calls == ["head", "list", "author", "update"]


def test_a_closed_pull_request_gets_an_update_and_never_a_new_comment(github: FakeGitHub) -> None:
    github.is_open = False
    silent = post(github, 7, body("one"))
    assert (silent.url, github.stored) == (None, [])
    assert "the pull request is closed" in silent.note
    github.add(body("old", run=1))
    assert post(github, 7, body("two")).url is not None
    assert texts(github) == ["two"]


def test_a_comment_that_is_deleted_meanwhile_is_not_written_anew_on_a_closed_pull_request(github: FakeGitHub) -> None:
    github.is_open = False
    github.add(body("old", run=1))
    github.before["update"] = github.stored.clear
    assert post(github, 7, body()).url is None
    assert github.stored == []


def test_a_comment_that_may_not_be_edited_is_not_written_anew_on_a_closed_pull_request(github: FakeGitHub) -> None:
    github.is_open = False
    github.add(body("old", run=1))
    github.before["update"] = raising(RefusedError("no", status=403))
    assert post(github, 7, body()).url is None
    assert texts(github) == ["old"]


def test_a_locked_conversation_gets_an_update_and_no_new_comment(github: FakeGitHub) -> None:
    github.is_locked = True
    with pytest.raises(PublishError, match="the conversation is locked"):
        post(github, 7, body("one"))
    assert "create" not in github.calls
    assert post(github, 7, body("one"), only_update=True).url is None  # nobody asked for one
    github.add(body("old", run=1))
    post(github, 7, body("two"))
    assert texts(github) == ["two"]


def test_a_closed_pull_request_whose_head_moved_on_has_its_comment_marked(github: FakeGitHub) -> None:
    github.is_open, github.head = False, "c" * 40
    assert "moved on" in post(github, 7, body()).note
    assert github.stored == []


def test_a_strangers_comment_with_our_marker_is_left_alone(github: FakeGitHub) -> None:
    github.add(body("spoofed", run=1), Author(id=666, login="mallory"))
    post(github, 7, body("ours"))
    assert texts(github) == ["spoofed", "ours"]


def test_a_marker_that_is_quoted_further_down_does_not_count(github: FakeGitHub) -> None:
    github.add(f"> quoted\n{body('x')}")
    post(github, 7, body("ours"))
    assert texts(github)[-1] == "ours"
    assert len(github.stored) == 2


def test_an_app_is_its_slug_with_bot_and_of_the_kind_bot(github: FakeGitHub) -> None:
    github.me = Author(id=None, login="my-app[bot]")
    github.add(body("a person of that name", run=1), Author(id=8, login="my-app"))
    forged = github.add(body("a person who calls himself bot", run=1), Author(id=7, login="my-app[bot]"))
    github.stored[-1] = replace(forged, is_by_app=False)
    github.add(body("another app", run=1), Author(id=6, login="your-app[bot]"))
    github.add(body("old", run=1), Author(id=9, login="My-App[bot]"))
    post(github, 7, body())
    assert texts(github) == ["a person of that name", "a person who calls himself bot", "another app", "new"]


def test_with_an_unknown_identity_nobodys_comment_is_taken_for_ours(github: FakeGitHub) -> None:
    github.me = None
    github.add(body("theirs", run=1), Author(id=1, login="person"))
    github.add(body("forged", run=9), Author(id=2, login="some-app[bot]"))
    post(github, 7, body())
    assert texts(github) == ["theirs", "forged", "new"]


def test_an_unknown_identity_is_learnt_from_what_was_written_and_the_older_comment_stays(github: FakeGitHub) -> None:
    github.me = None
    old = github.add(body("old", run=1))
    assert post(github, 7, body()).url == old.html_url
    assert texts(github) == ["new"]


def test_two_ids_and_two_workflows_keep_a_comment_each(github: FakeGitHub) -> None:
    post(github, 7, body("a", comment_id="linux"))
    post(github, 7, body("b", comment_id="mac"))
    assert texts(github) == ["a", "b"]


def test_a_rival_that_was_created_meanwhile_wins_if_it_is_older(github: FakeGitHub) -> None:
    github.before["create"] = lambda: github.add(body("rival", run=4)) and None
    posted = post(github, 7, body("ours"))
    assert texts(github) == ["ours"]
    assert posted.url == "https://github.com/c/101"
    assert github.calls[-2:] == ["update", "delete"]  # the winner is written before a loser goes


def test_several_own_comments_are_reduced_to_the_oldest(github: FakeGitHub) -> None:
    for run in (1, 2, 3):
        github.add(body(str(run), run=run))
    github.add("somebody else's", Author(id=3, login="person"))
    post(github, 7, body("ours"))
    assert [comment.id for comment in github.stored] == [101, 104]
    assert github.stored[0].body.endswith("ours\n")


def test_a_comment_that_was_deleted_meanwhile_is_created_anew(github: FakeGitHub) -> None:
    old = github.add(body("old", run=1))
    github.before["update"] = lambda: github.stored.remove(old)
    post(github, 7, body("ours"))
    assert texts(github) == ["ours"]


def test_a_newer_head_is_never_overwritten(github: FakeGitHub) -> None:
    github.add(body("newer", head="c" * 40, run=9))
    github.head = "c" * 40
    posted = post(github, 7, body("late"))
    assert texts(github) == ["newer"]
    assert "moved on to ccccccc" in posted.note


FACTS_LINE = "Gate **passed** · head `aaaaaaa` vs base `bbbbbbb`"
NOW = "c" * 40


def report(head: str, run: int, prefix: str = "") -> str:
    return body(f"### No change\n\n{prefix}{FACTS_LINE}\n\nGate **passed** is quoted here", head=head, run=run)


def test_a_comment_of_a_head_that_was_left_behind_says_so_and_keeps_its_numbers(github: FakeGitHub) -> None:
    # given the comment of one head, a late run of the next, and a third that has been pushed since
    old = report("d" * 40, run=1)
    github.add(old)
    github.head = NOW
    posted = post(github, 7, body("late", run=2))
    said = "**Outdated**: measured `ddddddd`, head is now `ccccccc`. "
    assert github.stored[0].body == report("d" * 40, run=1, prefix=said)
    assert posted.url is None
    assert "comment of ddddddd was marked as outdated" in posted.note


def test_it_says_so_once_and_of_the_latest_head(github: FakeGitHub) -> None:
    github.add(report("d" * 40, run=1))
    for head in ("e" * 40, NOW, NOW):
        github.head = head
        post(github, 7, body("late", run=2))
    assert github.stored[0].body.count("Outdated") == 1
    assert "head is now `ccccccc`" in github.stored[0].body
    assert github.calls.count("update") == 2


def test_the_newest_heads_comment_and_a_strangers_are_not_marked(github: FakeGitHub) -> None:
    github.add(report("d" * 40, run=1), Author(id=666, login="mallory"))
    github.add(report(NOW, run=9))
    github.head = NOW
    before = list(github.stored)
    post(github, 7, body("late", run=2))
    assert github.stored == before
    assert "update" not in github.calls


def test_the_next_report_takes_the_mark_away(github: FakeGitHub) -> None:
    github.add(report("d" * 40, run=1, prefix="**Outdated**: measured `ddddddd`, head is now `aaaaaaa`. "))
    post(github, 7, report(HEAD, run=3))
    assert github.stored[0].body == report(HEAD, run=3)


def test_a_comment_that_somebody_rewrote_is_left_as_it_is(github: FakeGitHub) -> None:
    github.add(body("my own words", head="d" * 40, run=1))
    github.head = NOW
    post(github, 7, body("late", run=2))
    assert texts(github) == ["my own words"]


@pytest.mark.parametrize("call", ["list", "update"])
@pytest.mark.parametrize("error", [PublishError("502"), RefusedError("403", status=403)])
def test_a_superseded_run_is_no_failure_even_where_nothing_can_be_marked(
    github: FakeGitHub, call: str, error: Exception
) -> None:
    github.add(report("d" * 40, run=1))
    github.head = NOW
    github.before[call] = raising(error)
    assert "could not be settled" in post(github, 7, body("late", run=2)).note


def test_a_later_run_of_the_same_head_is_not_overwritten_by_an_earlier_one(github: FakeGitHub) -> None:
    github.add(body("later", run=6))
    posted = post(github, 7, body("earlier", run=5))
    assert texts(github) == ["later"]
    assert "newer run" in posted.note


def test_a_job_that_replaces_the_report_of_another_one_of_its_run_is_told(github: FakeGitHub) -> None:
    # given the legs of a matrix that all have the default comment-id
    assert not post(github, 7, body("linux")).replaces_job
    assert post(github, 7, body("mac")).replaces_job
    assert texts(github) == ["mac"]


@pytest.mark.parametrize(
    "before",
    [
        body("earlier run", run=4),
        body("earlier attempt", run=5, attempt=1),
        body("new", attempt=2),
        body("new", attempt=2).replace("\n", "\r\n"),
    ],
    ids=["another run", "re-run of this job", "our own text", "our own text as GitHub keeps it"],
)
def test_what_no_other_job_of_the_run_wrote_is_replaced_in_silence(github: FakeGitHub, before: str) -> None:
    github.add(before)
    assert not post(github, 7, body("new", attempt=2)).replaces_job


def test_outside_of_a_run_nothing_is_another_job(github: FakeGitHub) -> None:
    github.add(body("old", run=0))
    assert not post(github, 7, body("new", run=0)).replaces_job


def test_jobs_that_create_at_once_are_told_too(github: FakeGitHub) -> None:
    github.before["create"] = lambda: github.add(body("mac")) and None
    assert post(github, 7, body("linux")).replaces_job


def test_a_second_attempt_of_a_run_overwrites_the_first(github: FakeGitHub) -> None:
    github.add(body("first", run=5, attempt=1))
    post(github, 7, body("second", run=5, attempt=2))
    assert texts(github) == ["second"]


def test_a_failed_listing_is_not_taken_for_an_empty_one(github: FakeGitHub) -> None:
    github.before["list"] = raising(PublishError("502"))
    with pytest.raises(PublishError, match="502"):
        post(github, 7, body())
    assert github.stored == []


def test_a_lost_answer_to_a_creation_is_looked_up_before_anything_is_repeated(github: FakeGitHub) -> None:
    def created_although_the_answer_was_lost() -> None:
        github.add(body("lost"))
        raise UncertainError("no answer")

    github.before["create"] = created_although_the_answer_was_lost
    posted = post(github, 7, body("ours"))
    assert texts(github) == ["ours"]
    assert posted.url == "https://github.com/c/101"


def test_a_creation_that_never_happened_is_repeated(github: FakeGitHub) -> None:
    github.before["create"] = raising(UncertainError("no answer"))
    post(github, 7, body("ours"))
    assert texts(github) == ["ours"]
    assert github.calls.count("create") == 1


def test_a_comment_that_may_not_be_edited_is_followed_by_a_new_one_and_said(github: FakeGitHub) -> None:
    github.me = Author(id=2, login="old-app[bot]")
    github.add(body("old app's", run=1), Author(id=2, login="old-app[bot]"))
    github.before["update"] = raising(RefusedError("no", status=403))
    posted = post(github, 7, body("ours"))
    assert texts(github) == ["old app's", "ours"]
    assert "may not be edited" in posted.note


def test_a_quiet_mode_updates_but_does_not_create(github: FakeGitHub) -> None:
    assert post(github, 7, body(), only_update=True).url is None
    assert github.stored == []
    github.add(body("old", run=1))
    post(github, 7, body("calm again"), only_update=True)
    assert texts(github) == ["calm again"]


def test_the_author_is_asked_for_only_where_there_is_a_candidate(github: FakeGitHub) -> None:
    github.add("hello", BOT)
    post(github, 7, body())
    assert "author" not in github.calls
