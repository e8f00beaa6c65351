"""The mark goes where every report of ours has its facts, and nowhere else."""

from __future__ import annotations

import pytest
from support.scenes import SCENES, rendered

from ci_action.core.outdated import marked_outdated

OLD, NOW = "a" * 40, "f" * 40


@pytest.mark.parametrize("name", SCENES)
def test_every_comment_can_be_marked_on_its_facts_line(name: str) -> None:
    before = rendered(name).comment
    after = marked_outdated(before, measured_sha=OLD, current_sha=NOW)
    assert after is not None
    pairs = list(zip(before.split("\n"), after.split("\n"), strict=True))
    ((was, said),) = [pair for pair in pairs if pair[0] != pair[1]]
    assert was.startswith("Gate **")
    assert said == f"**Outdated**: measured `aaaaaaa`, head is now `fffffff`. {was}"


def test_marking_twice_changes_nothing_and_a_newer_head_replaces_the_mark() -> None:
    once = marked_outdated(rendered("passing").comment, measured_sha=OLD, current_sha=NOW)
    assert once is not None
    assert marked_outdated(once, measured_sha=OLD, current_sha=NOW) is None
    again = marked_outdated(once, measured_sha=OLD, current_sha="e" * 40)
    assert again == once.replace("fffffff", "eeeeeee")


def test_the_same_words_further_down_are_somebody_elses() -> None:
    assert marked_outdated("\n" * 10 + "Gate **passed**", measured_sha=OLD, current_sha=NOW) is None
