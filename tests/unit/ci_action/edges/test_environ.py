"""Inputs and runner variables become values, or one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_action.edges.environ import ActionInputs, read_event, read_inputs, read_runner
from ci_action.errors import ConfigError, EventError


def test_nothing_given_is_the_defaults() -> None:
    assert read_inputs({}) == ActionInputs()
    assert read_inputs({"TORCHSCAN_COMMENT": "", "TORCHSCAN_PYTHON": "  "}) == ActionInputs()


def test_inputs_are_read_and_trimmed() -> None:
    given = {
        "TORCHSCAN_TOKEN": "ghs_x",
        "TORCHSCAN_PYTHON": " /opt/py/bin/python ",
        "TORCHSCAN_REQUIRE_COMMENT": "True",
        "TORCHSCAN_UPLOAD": "0",
        "TORCHSCAN_COMMENT": "on-failure",
        "TORCHSCAN_API_URL": "https://ghe.example/api/v3/",
    }
    inputs = read_inputs(given)
    assert (inputs.python, inputs.require_comment, inputs.upload) == ("/opt/py/bin/python", True, False)
    assert (inputs.comment, inputs.api_url) == ("on-failure", "https://ghe.example/api/v3")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("COMMENT", "sometimes", "input comment: found 'sometimes'; accepted: always, on-change, on-failure, never"),
        ("REQUIRE_COMMENT", "perhaps", "input require-comment: found 'perhaps'; accepted: true or false"),
        ("COMMENT_ID", "(a+)+$ -->", "input comment-id: found"),
        ("COMMENT_ID", "x" * 65, "input comment-id: found"),
        ("API_URL", "http://evil.example", "input api-url: found"),
        ("API_URL", "https://user:pass@github.example", "input api-url: found"),
        ("API_URL", "file:///etc/passwd", "input api-url: found"),
        ("API_URL", "https://[bad", "input api-url: found"),
    ],
)
def test_a_wrong_input_is_named_with_what_is_accepted(name: str, value: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_inputs({f"TORCHSCAN_{name}": value})
    assert str(caught.value).startswith(sentence)
    assert "accepted:" in str(caught.value)


def test_plain_http_is_for_this_machine_only() -> None:
    assert read_inputs({"TORCHSCAN_API_URL": "http://127.0.0.1:8080"}).api_url == "http://127.0.0.1:8080"


def test_the_token_is_never_shown() -> None:
    assert "ghs_secret" not in repr(read_inputs({"TORCHSCAN_TOKEN": "ghs_secret"}))


def test_the_runner_is_read() -> None:
    runner = read_runner(
        {
            "GITHUB_ACTIONS": "true",
            "GITHUB_RUN_ID": "4242",
            "GITHUB_RUN_ATTEMPT": "2",
            "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/scan.yml@refs/pull/7/merge",
        }
    )
    assert (runner.is_actions, runner.run_id, runner.run_attempt) == (True, 4242, 2)
    assert runner.workflow_path == ".github/workflows/scan.yml"


def test_outside_of_actions_everything_is_empty() -> None:
    runner = read_runner({})
    assert (runner.is_actions, runner.run_id, runner.run_attempt, runner.repository) == (False, 0, 1, "")


def runner_with(tmp_path: Path, text: str, name: str = "pull_request") -> dict[str, str]:
    (tmp_path / "event.json").write_text(text)
    return {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_EVENT_NAME": name,
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_SHA": "a" * 40,
    }


def test_an_event_is_read(tmp_path: Path) -> None:
    payload = {"before": "b" * 40, "after": "a" * 40, "repository": {"default_branch": "trunk"}}
    event = read_event(read_runner(runner_with(tmp_path, json.dumps(payload), "push")))
    assert (event.base_hint, event.default_branch) == ("b" * 40, "trunk")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_a_broken_event_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(EventError) as caught:
        read_event(read_runner(runner_with(tmp_path, text)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["pull_request_target", "workflow_run", "issue_comment"])
def test_dangerous_events_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(EventError, match="may not measure"):
        read_event(read_runner(runner_with(tmp_path, "{}", name)))


def test_without_an_event_the_local_command_is_named() -> None:
    with pytest.raises(EventError, match="torchscan-ci run --base"):
        read_event(read_runner({}))
