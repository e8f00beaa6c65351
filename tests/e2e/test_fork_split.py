"""A fork's pull request over two runs: one measures without rights, one comments and sets the gate."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.rig import events, widget
from support.rig.recipes import recipe
from support.rig.repository import Consumer, consumer
from support.rig.runner import TOKEN, Run
from support.rig.scene import Scene
from support.rig.server import FakeGitHub
from support.rig.state import Exchange

pytestmark = pytest.mark.e2e

FORK = "octo/widget"
EVIL = "import os\nprint('::error::pwned')\nSECRET = 'words of the fork'\n"
MEASURED, PUBLISHED = 71, 72


def workflows() -> dict[str, str]:
    """Give both workflows of the recipe under the names that it gives them."""
    names = ("torchscan.yml", "torchscan-publish.yml")
    return {f".github/workflows/{name}": text for name, text in zip(names, recipe("Forks and Dependabot"), strict=True)}


@dataclass(frozen=True, slots=True)
class Story:
    """Both runs of one pull request, and what was there after each."""

    measure: Run
    publish: Run
    after_measure: list[dict[str, Any]]
    comments: list[dict[str, Any]]
    statuses: list[dict[str, Any]]
    artifacts: dict[int, dict[str, bytes]]
    journal: list[Exchange]
    head_sha: str


def tell(github: FakeGitHub, scene: Scene, *, head_repository: str = FORK) -> Story:
    measured = events.pull_request(scene.consumer, head_repository=head_repository)
    github.state.can_write = False
    first = scene.run(event=measured, run_id=MEASURED)
    after = list(github.state.comments_of(7))
    github.state.can_write = True
    scene.pull_request().head_repository = head_repository
    seen = len(github.state.journal)
    second = publish(github, scene, head_repository=head_repository)
    return Story(
        measure=first,
        publish=second,
        after_measure=after,
        comments=list(github.state.comments_of(7)),
        statuses=list(github.state.statuses),
        artifacts={run: files_of(github, run) for run in (MEASURED, PUBLISHED)},
        journal=github.state.journal[seen:],
        head_sha=scene.consumer.head_sha,
    )


def publish(github: FakeGitHub, scene: Scene, *, head_repository: str = FORK) -> Run:
    """Prism follows the redirect of an archive, as GitHub's clients must not: this run speaks to the fake itself."""
    runner = dataclasses.replace(scene.runner, api_url=github.own_url, run_id=PUBLISHED)
    event = events.workflow_run(scene.consumer, run_id=MEASURED, head_repository=head_repository)
    return runner.run(scene.consumer, "workflow_run", event)


def files_of(github: FakeGitHub, run: int) -> dict[str, bytes]:
    found = {}
    for identifier in (number for number, of in github.state.artifact_runs.items() if of == run):
        with zipfile.ZipFile(io.BytesIO(github.state.blobs[str(identifier)])) as archive:
            name = github.state.artifacts[identifier]["name"]
            found |= {f"{name}/{file}": archive.read(file) for file in archive.namelist()}
    return found


@pytest.fixture(scope="module")
def story(
    shared_github: FakeGitHub,
    make_scene: Callable[[Path, Consumer], Scene],
    tmp_path_factory: pytest.TempPathFactory,
) -> Story:
    folder = tmp_path_factory.mktemp("fork")
    base = {**widget.base(32), **workflows()}
    head = {"torchscan.toml": widget.CONFIG.replace("5%", "900%"), **widget.model(48, prologue=EVIL)}
    repository = consumer(folder / "repo", base=base, head=head)
    return tell(shared_github, make_scene(folder / "runner", repository))


def test_the_measuring_run_says_nothing_and_fails_for_nobody(story: Story) -> None:
    assert story.measure.exit_code == 0, story.measure.log
    assert story.after_measure == []
    assert "classifier" in story.measure.summary
    assert not [one for one in story.measure.annotations if "token" in one.message]


def test_the_evidence_is_one_small_file_without_words(story: Story) -> None:
    (name,) = [name for name in story.artifacts[MEASURED] if name.startswith("torchscan-evidence/")]
    assert name == "torchscan-evidence/evidence.json"
    text = story.artifacts[MEASURED][name].decode()
    assert "words of the fork" not in text
    assert {item["side"] for item in json.loads(text)["results"]} == {"base", "head"}


def test_the_publishing_run_comments_once_on_the_right_pull_request(story: Story) -> None:
    assert story.publish.exit_code == 0, story.publish.log
    (comment,) = story.comments
    text = comment["body"].replace("\u00a0", " ")
    assert "Regression: `classifier`" in text
    assert "(measured in a fork run)" in text
    assert f"`{FORK}`" in text
    assert "18.94 k → 28.42 k" in text
    assert f"/actions/runs/{MEASURED})" in text


def test_bases_limit_counts_and_not_the_forks(story: Story) -> None:
    # given a fork whose own config allows 900%, and a change of 50% against base's 5%
    text = story.comments[0]["body"]
    assert "Gate **failed**" in text
    assert "+5%" in text
    assert "after the merge" in text, text


def test_the_gate_is_a_status_on_the_head(story: Story) -> None:
    before, status = story.statuses
    assert (before["state"], before["context"]) == ("pending", "torchscan (main)")
    assert (status["sha"], status["state"], status["context"]) == (story.head_sha, "failure", "torchscan (main)")
    assert status["target_url"] == story.comments[0]["html_url"]


def test_the_pages_are_drawn_again_and_nothing_of_the_fork_is_linked(story: Story) -> None:
    pages = story.artifacts[PUBLISHED]
    assert "torchscan/index.html" in pages
    assert not [name for name in pages if "evidence" in name and "gate" not in name]
    index = pages["torchscan/index.html"].decode()
    assert f'<code>torchscan</code> of <a href="https://github.com/acme/widget/actions/runs/{MEASURED}"' in index
    files = [link for link in re.findall(r'href="([^"#][^"]*)"', index) if not link.startswith(("data:", "https:"))]
    assert {f"torchscan/{link}" for link in files} <= set(pages)
    linked = re.findall(r"/artifacts/(\d+)", story.comments[0]["body"])
    own = next(outputs["artifact-id"] for outputs in story.publish.outputs.values() if "artifact-id" in outputs)
    assert linked == [own]


def test_no_word_of_the_fork_reaches_anything_that_is_published(story: Story) -> None:
    published = [story.comments[0]["body"], story.publish.summary, story.publish.log]
    published += [page.decode(errors="replace") for page in story.artifacts[PUBLISHED].values()]
    assert not [text for text in published if "words of the fork" in text or "pwned" in text]


def test_the_token_goes_to_the_api_alone(story: Story) -> None:
    blobs = [one for one in story.journal if one.path.startswith("/blob/") and one.method == "GET"]
    assert blobs
    assert not [one for one in blobs if "authorization" in one.headers]
    assert [one for one in story.journal if TOKEN in one.headers.get("authorization", "")]


def test_what_the_publishing_run_asks_is_little(story: Story) -> None:
    calls = [(one.method, one.path.removeprefix("/repos/acme/widget")) for one in story.journal]
    asked = [call for call in calls if not call[1].startswith(("/twirp", "/blob"))]
    assert [call for call in asked if call[0] != "GET"] == [
        ("POST", f"/statuses/{story.head_sha}"),
        ("POST", "/issues/7/comments"),
        ("POST", f"/statuses/{story.head_sha}"),
    ]
    assert len(asked) <= 20
