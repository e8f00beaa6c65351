"""The publishing half of the split on the command line: where it may not run, and what it says when it cannot."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.scripted_server import Reply, scripted_server

from ci_action.main import main

RUN: dict[str, Any] = {
    "id": 71,
    "run_attempt": 1,
    "event": "pull_request",
    "head_sha": "a" * 40,
    "head_branch": "feature",
    "head_repository": {"full_name": "octo/widget"},
    "repository": {"full_name": "acme/widget"},
    "path": ".github/workflows/torchscan.yml",
}


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job of workflow_run with an empty workspace and a token."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    (tmp_path / "workspace").mkdir()
    for name, value in {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "acme/widget",
        "GITHUB_WORKSPACE": str(tmp_path / "workspace"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "RUNNER_TEMP": str(tmp_path),
        "TORCHSCAN_MODE": "publish",
        "TORCHSCAN_TOKEN": "ghs_secret",
        "TORCHSCAN_API_URL": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    event(tmp_path)
    return tmp_path / "report"


def event(folder: Path, **fields: Any) -> None:
    (folder / "event.json").write_text(json.dumps({"action": "completed", "workflow_run": RUN | fields}))


def receive(job: Path) -> int:
    return main(["receive", "--out", str(job)])


def said(job: Path) -> str:
    return (job.parent / "summary").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["pull_request", "push", "schedule", "pull_request_target"])
def test_publishing_anywhere_else_is_refused(job: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_EVENT_NAME", name)
    assert receive(job) == 2
    assert "workflow_run alone" in said(job)


def test_measuring_there_is_refused_whatever_the_mode(job: Path) -> None:
    assert main(["plan", "--out", str(job)]) == 2
    assert "only `mode: publish` may run" in said(job)


def test_without_a_token_it_says_which_input_is_empty(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCHSCAN_TOKEN")
    assert receive(job) == 2
    assert "input token" in said(job)


def test_a_run_of_a_push_is_left_alone(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    event(job.parent, event="push")
    assert receive(job) == 0
    assert "::notice title=TorchScan::nothing is published" in capsys.readouterr().err
    assert "skip<<" in (job.parent / "output").read_text()


def test_publishing_before_receiving_says_what_comes_first(job: Path) -> None:
    assert main(["publish", "--out", str(job)]) == 3
    assert "run `torchscan-ci receive` first" in said(job)


def test_a_refusal_names_the_permissions_and_no_secret(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(Reply(403, {"message": "Resource not accessible by integration"})) as server:
        monkeypatch.setenv("TORCHSCAN_API_URL", server.url)
        assert receive(job) == 4
    assert "`actions: read`" in said(job)
    assert "ghs_secret" not in said(job)


def test_a_token_that_is_not_valid_is_not_taken_for_a_missing_permission(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_server(Reply(401, {"message": "Bad credentials"})) as server:
        monkeypatch.setenv("TORCHSCAN_API_URL", server.url)
        assert receive(job) == 4
    assert "the input token is not valid" in said(job)
    assert "`actions: read`" not in said(job)


def test_a_head_with_no_open_pull_request_gets_nothing(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with scripted_server(Reply(body=[])) as server:
        monkeypatch.setenv("TORCHSCAN_API_URL", server.url)
        assert receive(job) == 0
    assert [asked.method for asked in server.asked] == ["GET"]
    assert "no open pull requests" in capsys.readouterr().err


def test_a_run_without_evidence_shuts_the_gate(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side = {"sha": "a" * 40, "ref": "feature", "repo": {"full_name": "octo/widget"}}
    pull = {"number": 7, "head": side, "base": {**side, "ref": "main", "repo": {"full_name": "acme/widget"}}}
    script = Reply(body=[pull]), Reply(201, {}), Reply(body={"artifacts": []}), Reply(201, {})
    with scripted_server(*script) as server:
        monkeypatch.setenv("TORCHSCAN_API_URL", server.url)
        assert receive(job) == 3
    before, status = server.asked[1], server.asked[-1]
    assert (before.body["state"], before.body["context"]) == ("pending", "torchscan (main)")
    assert (status.method, status.path) == ("POST", f"/repos/acme/widget/statuses/{'a' * 40}")
    assert status.body["state"] == "error"
    assert "left no artifact" in status.body["description"]
