"""The runner of the rig: what a job sees there is what it would see on GitHub, less the network."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.rig.network import Network
from support.rig.repository import consumer
from support.rig.runner import ACTION, ACTION_SHA, Runner
from support.rig.server import FakeGitHub

pytestmark = pytest.mark.e2e

ACTION_YML = """
name: tiny
description: shows what a composite step sees
inputs: {token: {description: t, default: "${{ github.token }}"}}
outputs: {parents: {description: p, value: "${{ steps.look.outputs.parents }}"}}
runs:
  using: composite
  steps:
    - id: look
      shell: bash
      env: {TOKEN: "${{ inputs.token }}"}
      run: |
        echo "parents=$(git cat-file -p HEAD | grep -c ^parent)" >> "$GITHUB_OUTPUT"
        echo "commits=$(git rev-list --all --count)" >> "$GITHUB_OUTPUT"
        echo "torch=$(python -c 'import torch; print(torch.__version__)')" >> "$GITHUB_OUTPUT"
        python -c 'import torchscan' 2>/dev/null && echo "torchscan=there" >> "$GITHUB_OUTPUT"
        echo "leak=${RIG_SECRET_OF_THE_DEVELOPER:-}" >> "$GITHUB_OUTPUT"
        echo "token=${#TOKEN}" >> "$GITHUB_OUTPUT"
        mkdir out && echo hello > out/index.html
    - uses: actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a
      with: {name: report, path: out}
"""
WORKFLOW = f"""
on: pull_request
jobs:
  job:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
      - uses: actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97
      - id: scan
        uses: {ACTION}@{ACTION_SHA}
      - run: exit 1
"""


def test_a_job_sees_a_shallow_merge_commit_and_nothing_of_the_developer(
    network: Network, github: FakeGitHub, torch_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given an action that looks around, and a secret in the environment of whoever runs the tests
    monkeypatch.setenv("RIG_SECRET_OF_THE_DEVELOPER", "s3cret")
    (tmp_path / "action").mkdir()
    (tmp_path / "action" / "action.yml").write_text(ACTION_YML, encoding="utf-8")
    made = consumer(tmp_path / "repo", base={".github/workflows/w.yml": WORKFLOW}, head={"model.py": "x = 1\n"})
    runner = Runner(
        network=network,
        folder=tmp_path / "runner",
        action=tmp_path / "action",
        python=torch_python,
        api_url=github.public_url,
        results_url=github.own_url,
        wheelhouse=tmp_path,
    )

    # when
    run = runner.run(made, "pull_request", {"number": made.number})

    # then
    seen = run.outputs["scan.look"]
    assert (seen["parents"], seen["commits"], seen["leak"]) == ("2", "1", "")
    assert seen["torch"]
    assert "torchscan" not in seen
    assert int(seen["token"]) > 20
    assert run.exit_code == 1
    assert [artifact["name"] for artifact in github.state.artifacts.values()] == ["report"]
