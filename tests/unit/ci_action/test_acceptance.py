"""An exceeded limit is accepted by a writer's label that was set on this very head, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.fake_ports import FakeGitHub

from ci_action.acceptance import read_acceptance
from ci_action.core.trigger import NEVER, Trigger
from ci_action.core.verdict import Acceptance
from ci_action.ports import TimelineEvent

HEAD, LABEL = "a" * 40, "torchscan: accepted"
PUSHED = Trigger(action="synchronize", label="", actor="author", head_sha=HEAD, at="2026-01-01T10:00:00Z")


def at(hour: int, kind: str = "labeled", label: str = LABEL, actor: str = "owner") -> TimelineEvent:
    return TimelineEvent(kind, label, actor, f"2026-01-01T{hour:02}:00:00Z")


def read(*events: TimelineEvent, trigger: Trigger = PUSHED, head: str = HEAD) -> Acceptance | None:
    return read_acceptance(FakeGitHub(head=head, events=list(events)), 7, LABEL, trigger)


def test_a_writers_label_after_the_push_counts_and_is_named() -> None:
    assert read(at(11)) == Acceptance(label=LABEL, actor="owner", head_sha=HEAD)


def test_the_run_that_the_label_itself_started_counts() -> None:
    trigger = replace(PUSHED, action="labeled", label=LABEL, actor="owner", at="2026-01-01T11:00:00Z")
    assert read(at(11), trigger=trigger) is not None


@pytest.mark.parametrize(
    "events",
    [
        [],
        [at(9)],
        [at(10)],
        [at(11, label="another")],
        [at(11, actor="author")],
        [at(11, actor="")],
        [at(11), at(12, "unlabeled")],
        [at(11), at(12, "head_ref_force_pushed")],
        [at(11, actor="owner"), at(12, "unlabeled"), at(13, actor="author")],
    ],
    ids=[
        "none", "before the push", "at the push", "another label", "no writer", "nobody", "taken away", "forced push",
        "set again by no writer",
    ],
)  # fmt: skip
def test_everything_else_does_not_count(events: list[TimelineEvent]) -> None:
    assert read(*events) is None


def test_a_label_that_was_taken_away_and_set_again_counts() -> None:
    assert read(at(11, actor="author"), at(12, "unlabeled"), at(13)) is not None


def test_a_head_that_moved_on_is_not_accepted() -> None:
    assert read(at(11), head="b" * 40) is None


def test_another_labels_run_does_not_prove_when_ours_was_set() -> None:
    trigger = replace(PUSHED, action="labeled", label="bug", at="2026-01-01T12:00:00Z")
    assert read(at(11), trigger=trigger) is None


def test_an_unknown_time_accepts_nothing() -> None:
    assert read(at(11), trigger=replace(PUSHED, at=NEVER)) is None
