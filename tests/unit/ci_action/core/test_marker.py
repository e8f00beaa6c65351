from __future__ import annotations

from dataclasses import replace

import pytest

from ci_action.core.marker import Marker, make_marker, parse_marker

FIELDS = {
    "workflow_path": ".github/workflows/torchscan.yml",
    "comment_id": "default",
    "head_sha": "a" * 40,
    "base_sha": "b" * 40,
    "run_id": 7101,
    "run_attempt": 2,
}


def marker(**fields: object) -> Marker:
    return make_marker(**{**FIELDS, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"base_sha": None},
        {"run_id": None},
        {"head_sha": "a" * 64},
        {"comment_id": "x/y --> <b>"},
        {"comment_id": "a--b"},
    ],
)
def test_marker_survives_the_way_through_a_comment(fields: dict[str, object]) -> None:
    made = marker(**fields)

    assert parse_marker(f"{made.line()}\r\n### text") == made
    assert made.line().removeprefix("<!-- ").removesuffix(" -->").count("--") == 0  # HTML ends a comment there


@pytest.mark.parametrize(
    "body",
    [
        "",
        "text",
        f"> {marker().line()}",
        f"text\n{marker().line()}",
        marker().line().replace("run=7101", "run=x"),
        marker().line() + " x",
    ],
)
def test_only_a_marker_at_the_start_counts(body: str) -> None:
    assert parse_marker(body) is None


def test_identity_is_workflow_and_id_and_nothing_else() -> None:
    assert marker().is_same_comment(marker(head_sha="c" * 40, run_id=9))
    assert not marker().is_same_comment(marker(comment_id="gpu"))
    assert not marker().is_same_comment(marker(workflow_path="other.yml"))


def test_a_later_attempt_of_the_same_run_is_newer() -> None:
    assert marker(run_attempt=3).is_newer_than(marker())
    assert marker(run_id=8000, run_attempt=1).is_newer_than(marker())
    assert not marker().is_newer_than(replace(marker()))
