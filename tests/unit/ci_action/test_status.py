"""The line beside a commit says what the gate says; where it cannot be written the run is not green."""

from __future__ import annotations

import pytest
from support.fake_ports import FakeSink
from support.fake_remote import FakeChecks
from support.verdicts import HEAD_SHA, limit, report, verdict_of

from ci_action.errors import PublishError
from ci_action.ports import RefusedError
from ci_action.render.rendered import Rendered
from ci_action.status import broken, deliver_status, status_name, status_of

RENDERED = Rendered(comment="<!-- m -->\nbody", summary="s", terminal="t", headline="Regression", pages={})


def test_a_failed_limit_and_an_unknown_one_are_told_apart() -> None:
    fail = status_of(
        verdict_of(report(), report(operator_flops=200), limit(max_increase=0.1)), RENDERED, name="n", url=""
    )
    unknown = status_of(
        verdict_of(report(), report(operator_flops=None), limit(max_increase=0.1)), RENDERED, name="n", url=""
    )
    passed = status_of(verdict_of(report(), report()), RENDERED, name="n", url="u")
    assert [(item.is_passed, item.is_known) for item in (fail, unknown, passed)] == [
        (False, True),
        (False, False),
        (True, True),
    ]
    assert (passed.headline, passed.url, passed.text) == ("Regression", "u", "body")


@pytest.mark.parametrize(("kind", "where"), [("commit", "statuses"), ("check", "checks"), ("none", None)])
def test_the_owner_chooses_the_form(kind: str, where: str | None) -> None:
    checks = FakeChecks()
    assert deliver_status(kind, checks, HEAD_SHA, broken("n", "why"), FakeSink(), is_gate=True) == 0  # type: ignore[arg-type]
    assert [name for name in ("statuses", "checks") if getattr(checks, name)] == ([where] if where else [])


@pytest.mark.parametrize("status", [403, 404])
def test_a_status_that_may_not_be_written_names_its_permission(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    checks, sink = FakeChecks(), FakeSink()

    def refuse(*_: object) -> None:
        raise RefusedError("no", status=status)

    monkeypatch.setattr(checks, "set_status", refuse)
    assert deliver_status("commit", checks, HEAD_SHA, broken("n", "why"), sink, is_gate=True) == PublishError.exit_code
    ((kind, message),) = sink.annotations
    assert kind == "error"
    assert "`statuses: write`" in message


def test_without_a_token_the_missing_gate_is_said() -> None:
    assert (
        deliver_status("commit", None, HEAD_SHA, broken("n", "why"), FakeSink(), is_gate=True) == PublishError.exit_code
    )


def test_where_the_job_is_the_gate_a_token_that_only_reads_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    checks, sink = FakeChecks(), FakeSink()

    def refuse(*_: object) -> None:
        raise RefusedError("no", status=403)

    monkeypatch.setattr(checks, "create_check", refuse)
    assert deliver_status("check", checks, HEAD_SHA, broken("n", "why"), sink, is_gate=False) == 0
    assert [kind for kind, _ in sink.annotations] == ["warning"]


def test_two_comments_have_two_names() -> None:
    assert (status_name("default"), status_name("gpu")) == ("torchscan", "torchscan (gpu)")
