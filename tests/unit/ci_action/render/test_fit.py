from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.scenes import FACTS, PULL, SCENES, Scene
from support.verdicts import config, failure, limit, plan, report, result

from ci_action.core.comparing import compare
from ci_action.core.judging import judge
from ci_action.core.marker import parse_marker
from ci_action.render.fit import COMMENT_BYTES, SUMMARY_BYTES, fit
from ci_action.render.markdown import body, comment, summary
from ci_action.render.view import Results, View, build_view


def crowd(count: int, kinds: str, letter: str = "m") -> Scene:
    """Many targets with long names: each unchanged (e), regressed (r), or failed on head (f) by ``kinds`` in turn."""
    names = [f"{letter * 54}{index:05d}" for index in range(count)]
    made = plan(config(*names, limits=(limit(max_increase=0.05, text="+5%"),)), pull_request=PULL)
    heads = {"e": report(), "r": report(operator_flops=200), "f": failure(message="x" * 500)}
    results = [result("base", identity=name) for name in names]
    results += [result("head", heads[kinds[index % len(kinds)]], name) for index, name in enumerate(names)]
    base, head = ([one for one in results if one["side"] == side] for side in ("base", "head"))
    return Scene(plan=made, verdict=judge(made, compare(made, base, head)), results=results)


def view_of(scene: Scene) -> View:
    return build_view(scene.verdict, scene.plan, scene.facts, Results.of(scene.results))


@pytest.mark.parametrize("kinds", ["e", "r", "f", "erf", "eeeeer"])
@pytest.mark.parametrize("letter", ["m", "名", "😀"])
def test_400_long_names_fit_and_keep_what_matters(kinds: str, letter: str) -> None:
    view = view_of(crowd(400, kinds, letter))
    text = comment(view)

    assert len(text.encode()) <= COMMENT_BYTES
    assert parse_marker(text) is not None
    assert view.headline in text
    assert f"({FACTS.artifact_url})" in text
    assert text.count("<details") == text.count("</details>")
    assert text.count("```") % 2 == 0
    assert (kinds == "f") <= ("🚫 failed" in text)


def test_unchanged_targets_go_before_anything_else() -> None:
    text = comment(view_of(crowd(900, "eeeeeeeeer")))

    assert "more are in the HTML reports" in text or "without change: in the HTML reports" in text
    assert text.count("❌ over") == 90


def test_what_was_cut_is_counted() -> None:
    text = comment(view_of(crowd(2_000, "r")))
    shown = text.count("❌ over")

    assert f"{2_000 - 10} more rows" in text
    assert f"{2_000 - shown} of them only in the HTML reports" in text


def test_summary_holds_more_than_the_comment() -> None:
    view = view_of(crowd(2_000, "r"))

    assert len(comment(view).encode()) < len(summary(view).encode()) <= SUMMARY_BYTES


@settings(max_examples=40, deadline=None)
@given(room=st.integers(min_value=3_000, max_value=40_000), name=st.sampled_from(sorted(SCENES)))
def test_any_room_gives_whole_tables_and_folds(room: int, name: str) -> None:
    text = fit(view_of(SCENES[name]()), body, most_bytes=room)

    assert len(text.encode()) <= room
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")
    assert text.count("<details") == text.count("</details>")


def test_a_room_too_small_for_the_verdict_is_an_error_not_a_stump() -> None:
    with pytest.raises(ValueError, match="longer than 100 bytes"):
        fit(view_of(SCENES["passing"]()), body, most_bytes=100)


def test_notes_of_any_length_do_not_break_the_cap() -> None:
    dice = random.Random(1)
    view = view_of(crowd(5, "r"))
    notes = tuple("".join(dice.choices("ab <|`", k=2_000)) for _ in range(500))

    assert len(comment(replace(view, sentences=notes)).encode()) <= COMMENT_BYTES
