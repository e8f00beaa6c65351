"""What a reader gets whatever fails, in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.fake_ports import FakeGitHub, FakeSink

from ci_action.core.config.entries import CommentMode, Config, Target
from ci_action.core.event import PullRequest
from ci_action.core.marker import make_marker
from ci_action.core.plan import Commits
from ci_action.core.planning import make_plan
from ci_action.core.verdict import Gate, Row, TargetVerdict, Verdict, Word
from ci_action.errors import PublishError
from ci_action.ports import RefusedError
from ci_action.publish import Delivered, deliver_files, deliver_words, explained, wants_comment
from ci_action.render.rendered import Rendered

HEAD = "a" * 40
CONFIG = Config(source="torchscan.toml", targets=(Target(id="net", factory="m:f"),))
PULL = PullRequest(
    number=7,
    head_sha=HEAD,
    head_ref="f",
    head_repository="o/r",
    base_sha="b" * 40,
    base_ref="main",
    base_repository="o/r",
)
COMMITS = Commits(base_sha="b" * 40, head_sha=HEAD, measured_sha=HEAD, base_reason="test")
PLAN = make_plan(COMMITS, base_config=CONFIG, head_config=CONFIG, pull_request=PULL)
MARKER = make_marker(
    workflow_path="w", comment_id="default", head_sha=HEAD, base_sha="b" * 40, run_id=1, run_attempt=1
).line()
RENDERED = Rendered(
    comment=f"{MARKER}\ntext", summary="summary", terminal="t", headline="h", pages={"index.html": "<html>"}
)


def verdict(outcome: Gate = Gate.PASS, word: Word = Word.UNCHANGED, code: int = 0) -> Verdict:
    row = Row(target="net", metric="parameters", base=None, head=None, word=word)
    return Verdict(outcome=outcome, exit_code=code, targets=(TargetVerdict(id="net", rows=(row,)),))


def delivered(
    sink: FakeSink, github: FakeGitHub | None, *, code: int = 0, mode: CommentMode = "always", require: bool = False
) -> Delivered:
    outcome = Gate.FAIL if code else Gate.PASS
    return deliver_words(RENDERED, verdict(outcome, code=code), PLAN, sink, github, mode=mode, require_comment=require)


def refuse(error: Exception) -> FakeGitHub:
    def hook() -> None:
        raise error

    return FakeGitHub(head=HEAD, before={"create": hook})


def test_files_come_first_then_the_summary_then_the_comment() -> None:
    sink, github = FakeSink(), FakeGitHub(head=HEAD)
    deliver_files(RENDERED, sink)
    github.before["head"] = lambda: sink.events.append("comment")
    assert delivered(sink, github).comment_url == "https://github.com/c/101"
    assert sink.events == ["file index.html", "file comment.md", "file summary.md", "summary", "comment"]


def test_a_read_only_token_is_a_warning_and_the_gate_alone_decides() -> None:
    sink = FakeSink()
    refusal = RefusedError("POST x was answered with 403", status=403, permissions="pull_requests=write")
    assert delivered(sink, refuse(refusal)).exit_code == 0
    assert delivered(sink, refuse(refusal), code=1).exit_code == 1
    kind, said = sink.annotations[0]
    assert kind == "warning"
    assert "`pull-requests: write`" in said
    assert "GitHub would accept: pull_requests=write" in said
    assert "forks" in said


def test_a_demanded_comment_that_fails_is_exit_code_4_unless_the_gate_says_more() -> None:
    sink = FakeSink()
    assert delivered(sink, refuse(PublishError("502")), require=True).exit_code == 4
    assert delivered(sink, refuse(PublishError("502")), require=True, code=1).exit_code == 1
    assert sink.annotations[0] == ("error", "no comment was written: 502")


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (403, "Resource not accessible by integration", "`pull-requests: write`"),
        (403, "Repository was archived so is read-only.", "the repository is archived"),
        (403, "the `acme` organization has an IP allow list enabled", "only the addresses on its list"),
        (403, "Resource protected by organization SAML enforcement.", "single sign-on"),
        (403, "Repository access blocked", "GitHub has blocked the repository"),
        (404, "Not Found", "it is not there any more, or it is private"),
        (410, "This issue was deleted", "deleted"),
    ],
)
def test_a_permission_is_blamed_only_where_it_is_the_cause(status: int, said: str, expected: str) -> None:
    sentence = explained(RefusedError(f"POST x was answered with {status} ({said})", status=status))
    assert expected in sentence
    assert ("grant the job" in sentence) == ("not accessible" in said)


def test_a_locked_conversation_is_named() -> None:
    error = RefusedError("POST x was answered with 403 (issue is locked)", status=403)
    assert "the conversation is locked" in explained(error)
    assert "pull-requests" not in explained(error)


def test_without_a_token_or_a_pull_request_there_is_only_the_summary() -> None:
    sink, github = FakeSink(), FakeGitHub(head=HEAD)
    assert delivered(sink, None).comment_url == ""
    plan = replace(PLAN, pull_request=None)
    deliver_words(RENDERED, verdict(), plan, sink, github, mode="always", require_comment=True)
    assert delivered(sink, github, mode="never").comment_url == ""
    assert github.calls == []
    assert sink.events == ["summary"] * 3


@pytest.mark.parametrize(("is_of_this_run", "kinds"), [(True, ["warning"]), (False, [])])
def test_a_matrix_whose_jobs_share_an_id_is_warned_with_what_to_set(is_of_this_run: bool, kinds: list[str]) -> None:
    sink, github = FakeSink(), FakeGitHub(head=HEAD)
    github.add(f"{MARKER}\nthe report of another job")
    deliver_words(
        RENDERED,
        verdict(),
        PLAN,
        sink,
        github,
        mode="always",
        require_comment=False,
        is_of_this_run=is_of_this_run,
    )
    assert [kind for kind, _ in sink.annotations] == kinds
    assert all("comment-id: ${{ matrix.os }}" in said and "mode: merge" in said for _, said in sink.annotations)


@pytest.mark.parametrize(
    ("mode", "calm", "changed", "failed"),
    [
        ("always", True, True, True),
        ("on-change", False, True, True),
        ("on-failure", False, False, True),
        ("never", False, False, False),
    ],
)
def test_modes(mode: CommentMode, calm: bool, changed: bool, failed: bool) -> None:
    assert wants_comment(verdict(), mode) is calm
    assert wants_comment(verdict(word=Word.CHANGED), mode) is changed
    assert wants_comment(verdict(Gate.FAIL, Word.REGRESSED, 1), mode) is failed


def test_a_body_that_is_too_long_after_all_is_shortened_once() -> None:
    sink, github = FakeSink(), refuse(RefusedError("POST x was answered with 422 (Validation Failed)", status=422))
    long = replace(RENDERED, comment=f"{MARKER}\n### verdict\n\ngate\n\n<details>\n{'x' * 1000}\n</details>\n")
    deliver_words(long, verdict(), PLAN, sink, github, mode="always", require_comment=True)
    assert github.stored[0].body == f"{MARKER}\n### verdict\n\ngate\n\nThe rest did not fit: see the job summary.\n"
