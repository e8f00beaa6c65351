"""One pull request through a real runner: over its limit first, mended by a second push. Each test reads one result."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.rig import widget
from support.rig.repository import Consumer, consumer
from support.rig.runner import TOKEN, Run
from support.rig.scene import Scene
from support.rig.server import FakeGitHub
from support.rig.state import Exchange

pytestmark = pytest.mark.e2e

BASE, OVER, UNDER = 32, 48, 33  # widths: operator MACs +50% and +3.125% against a limit of 5%

SPY = """
import json, os, pathlib
own, above, process = dict(os.environ), [], os.getppid()
while process > 1 and pathlib.Path(f"/proc/{{process}}/comm").read_text().strip() != "act":
    above.append(pathlib.Path(f"/proc/{{process}}/environ").read_bytes().decode(errors="replace"))
    process = int(pathlib.Path(f"/proc/{{process}}/stat").read_text().rpartition(")")[2].split()[1])
pathlib.Path({folder!r}, f"{{os.getpid()}}.json").write_text(json.dumps({{"own": own, "above": above}}))
"""
"""Code of the pull request that writes down what it can see: its environment, and that of each process above it."""


@dataclass(frozen=True, slots=True)
class Story:
    """What was there after each of the two runs."""

    first: Run
    second: Run
    after_first: list[dict[str, Any]]
    after_second: list[dict[str, Any]]
    pages: dict[str, bytes]
    journal: list[Exchange]
    spied: list[dict[str, Any]]


@pytest.fixture(scope="module")
def story(
    shared_github: FakeGitHub,
    make_scene: Callable[[Path, Consumer], Scene],
    tmp_path_factory: pytest.TempPathFactory,
) -> Story:
    folder = tmp_path_factory.mktemp("story")
    (folder / "spied").mkdir()
    spy = SPY.format(folder=str(folder / "spied"))
    repository = consumer(folder / "repo", base=widget.base(BASE), head=widget.model(OVER, prologue=spy))
    scene = make_scene(folder / "runner", repository)
    first = scene.run(run_id=1)
    after_first = copy.deepcopy(shared_github.state.comments_of(7))
    repository.commit("feature", widget.model(UNDER, prologue=spy))
    second = scene.run(run_id=2)
    return Story(
        first=first,
        second=second,
        after_first=after_first,
        after_second=copy.deepcopy(shared_github.state.comments_of(7)),
        pages=scene.artifact(1),
        journal=list(shared_github.state.journal),
        spied=[json.loads(path.read_text()) for path in (folder / "spied").iterdir()],
    )


def rows(run: Run) -> dict[str, dict[str, Any]]:
    """Give the rows of the one target in the ``json`` output, by metric."""
    document = json.loads(run.outputs["torchscan"]["json"])
    (target,) = document["targets"]
    return {row["metric"]: row for row in target["rows"]}


def test_the_job_fails_only_while_a_limit_is_exceeded(story: Story) -> None:
    assert (story.first.exit_code, story.second.exit_code) == (1, 0), story.first.log + story.second.log
    assert [run.outputs["torchscan"]["verdict"] for run in (story.first, story.second)] == ["fail", "pass"]


def test_there_is_one_comment_and_the_second_run_updates_it(story: Story) -> None:
    (before,), (after,) = story.after_first, story.after_second
    assert before["id"] == after["id"]
    assert before["body"] != after["body"]
    assert story.first.outputs["torchscan"]["comment-url"] == before["html_url"]


@pytest.mark.parametrize(("metric", "count"), [("parameters", widget.parameters), ("operator_macs", widget.macs)])
def test_the_numbers_are_those_worked_out_by_hand(story: Story, metric: str, count: Callable[[int], int]) -> None:
    for run, hidden in ((story.first, OVER), (story.second, UNDER)):
        row = rows(run)[metric]
        assert (row["base"]["value"], row["head"]["value"]) == (count(BASE), count(hidden))


def test_the_comment_shows_both_sides_and_the_change(story: Story) -> None:
    # given 592 * 32 = 18,944 and 592 * 48 = 28,416 multiply-accumulates; 75 * 32 + 10 and 75 * 48 + 10 parameters
    (comment,) = story.after_first
    text = comment["body"].replace("\u00a0", " ")  # a number and its unit never part at the end of a line
    cells = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line[:1] == "|"]
    found = {line[3]: line[4:7] for line in cells if "`classifier`" in line}
    assert found["operator MACs"] == ["18.94 k → 28.42 k", "+9,472 (+50.0%)", "+5%"]
    assert found["parameters"] == ["2,410 → 3,610", "+1,200 (+49.8%)", "none"]


def test_the_summary_says_what_the_comment_says(story: Story) -> None:
    assert "classifier" in story.first.summary
    assert "+50" in story.first.summary


def test_the_report_is_uploaded_and_needs_no_network(story: Story) -> None:
    index = story.pages["index.html"].decode()
    assert "classifier" in index
    assert "Content-Security-Policy" in index
    linked = re.findall(r"""(?:src|href)=["']([^"'#]+)""", index)
    assert [link for link in linked if link.startswith("http") and "github.com/acme/widget" not in link] == []
    assert "/actions/runs/1/artifacts/" in story.first.outputs["torchscan"]["artifact-url"]
    assert Path(story.first.outputs["torchscan"]["report-path"]).is_absolute()


def test_a_limit_exceeded_is_an_error_annotation(story: Story) -> None:
    assert any(one.kind == "error" and "operator_macs" in one.message for one in story.first.annotations)
    assert not [one for one in story.second.annotations if one.kind == "error"]


def test_measured_code_sees_no_token_and_none_of_the_runners_files(story: Story) -> None:
    # given both runs imported head's code, which wrote down its whole environment
    assert len(story.spied) >= 2
    forbidden = re.compile(r"GITHUB_|GH_|ACTIONS_|INPUT_|RUNNER_|TORCHSCAN_|.*TOKEN")
    for seen in story.spied:
        assert [name for name in seen["own"] if forbidden.match(name)] == []
        assert TOKEN not in json.dumps(seen["own"])


def test_no_process_above_measured_code_holds_the_token(story: Story) -> None:
    # given the same user may read their environment: the worker's parent, and the shell of the measuring step
    for seen in story.spied:
        assert len(seen["above"]) >= 2
        variables = [variable for environment in seen["above"] for variable in environment.split("\0")]
        # act hands a composite action's inputs to its steps as INPUT_*, GitHub does not
        assert [variable for variable in variables if TOKEN in variable and not variable.startswith("INPUT_")] == []


def test_the_token_is_nowhere_but_in_requests_to_the_api(story: Story) -> None:
    assert TOKEN not in story.first.log + story.first.summary + story.second.log
    assert not [name for name, content in story.pages.items() if TOKEN.encode() in content]
    with_token = [one for one in story.journal if TOKEN in one.headers.get("authorization", "")]
    assert with_token
    assert all(one.path.startswith("/repos/acme/widget/") for one in with_token)


def test_updating_takes_at_most_four_requests(story: Story) -> None:
    calls = [one for one in story.journal if one.path.startswith("/repos/")]
    second = calls[next(i for i, one in enumerate(calls) if one.method == "PATCH") - 2 :]
    assert [one.method for one in second].count("PATCH") == 1
    assert len(second) <= 4
