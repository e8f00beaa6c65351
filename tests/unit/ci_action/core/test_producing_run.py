"""The event of a publishing run: what it names is checked, what is no pull request's run is left alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ci_action.core.handover.producing_run import ProducingRun, parse_producing_run
from ci_action.errors import EventError

PAYLOAD: dict[str, Any] = {
    "action": "completed",
    "workflow_run": {
        "id": 71,
        "run_attempt": 1,
        "event": "pull_request",
        "conclusion": "failure",
        "head_sha": "a" * 40,
        "head_branch": "feature/x",
        "head_repository": {"full_name": "octo/widget"},
        "repository": {"full_name": "acme/widget"},
        "path": ".github/workflows/torchscan.yml",
        "pull_requests": [],
    },
}


def parsed(name: str = "workflow_run", action: str = "completed", **fields: Any) -> ProducingRun | str:
    payload = copy.deepcopy(PAYLOAD) | {"action": action}
    payload["workflow_run"] |= fields
    return parse_producing_run(name, payload)


def test_a_failed_run_is_published_too() -> None:
    found = parsed()
    assert isinstance(found, ProducingRun)
    assert (found.id, found.head_branch, found.head_repository) == (71, "feature/x", "octo/widget")


def test_the_path_is_read_without_its_ref() -> None:
    found = parsed(path=".github/workflows/a b.yaml@refs/heads/main")
    assert isinstance(found, ProducingRun)
    assert found.path == ".github/workflows/a b.yaml"


@pytest.mark.parametrize("name", ["pull_request", "push", "pull_request_target", "workflow_dispatch", "issue_comment"])
def test_publishing_is_refused_everywhere_else(name: str) -> None:
    with pytest.raises(EventError, match="workflow_run alone"):
        parsed(name)


@pytest.mark.parametrize(
    "other", [{"action": "requested"}, {"event": "push"}, {"event": "pull_request_target"}, {"head_branch": None}]
)
def test_a_run_of_no_pull_request_leaves_nothing_to_publish(other: dict[str, Any]) -> None:
    assert isinstance(parsed(**other), str)


@pytest.mark.parametrize(
    "other",
    [
        {"id": "71"},
        {"id": True},
        {"head_sha": "main"},
        {"head_branch": "--upload-pack=x"},
        {"head_repository": {"full_name": "../.."}},
        {"repository": None},
        {"path": "../../x.yml"},
        {"path": ".github/workflows/$(id).yml"},
    ],
)
def test_a_payload_of_another_form_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(EventError):
        parsed(**other)
