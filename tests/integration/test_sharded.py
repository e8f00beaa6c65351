"""A run over several jobs, stage by stage on a real repository: joined it is the whole one, a lost job is said."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from support.git_repositories import Repo, make_repo
from support.stages import stage, stages

CONFIG = """
schema-version = 1
targets = [
  {id = "a", factory = "models.py:narrow"},
  {id = "b", factory = "models.py:wide"},
  {id = "c", factory = "models.py:narrow"},
]
limits = [{metric = "operator_macs", max-increase = "5%"}]
"""
MODELS = """
import torch
def narrow(): return torch.nn.Linear(8, 8), (torch.zeros(1, 8),)
def wide(): return torch.nn.Linear(8, WIDTH), (torch.zeros(1, 8),)
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A pull request that makes target b wider, checked out as Actions would."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    made = make_repo(tmp_path / "repo")
    made.commit({"torchscan.toml": CONFIG, "models.py": MODELS.replace("WIDTH", "8")}, "base")
    base = made.git("rev-parse", "HEAD").strip()
    made.git("checkout", "--quiet", "-b", "feature")
    made.commit({"models.py": MODELS.replace("WIDTH", "16")}, "head")
    head = made.git("rev-parse", "HEAD").strip()
    place = {"repo": {"full_name": "o/r"}}
    pull = {
        "number": 7,
        "head": {"sha": head, "ref": "feature", **place},
        "base": {"sha": base, "ref": "main", **place},
    }
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": pull}))
    (tmp_path / "temp").mkdir()
    for name, value in {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_SHA": head,
        "GITHUB_WORKSPACE": str(made.path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "TORCHSCAN_PYTHON": sys.executable,
        "GIT_CONFIG_GLOBAL": os.devnull,
    }.items():
        monkeypatch.setenv(name, value)
    return made


def shards(tmp_path: Path, *parts: str) -> list[Path]:
    """Measure each part in a job of its own."""
    folders = [tmp_path / f"job-{part.replace('/', '-of-')}" for part in parts]
    for folder, part in zip(folders, parts, strict=True):
        assert stage("plan", folder) == 0
        assert stage("measure", folder, "--shard", part) == 0
    return folders


def merged(tmp_path: Path, folders: list[Path]) -> tuple[int, dict[str, object]]:
    out = tmp_path / "merged"
    assert stage("plan", out) == 0
    assert stage("merge", out, *map(str, folders)) == 0
    assert [stage(name, out) for name in ("render", "publish")] == [0, 0]
    document: dict[str, object] = json.loads((out / "result.json").read_text())
    return stage("gate", out), document


def words(document: dict[str, object]) -> dict[str, set[str]]:
    targets: list[dict[str, object]] = document["targets"]  # type: ignore[assignment]
    return {str(one["id"]): {row["word"] for row in one["rows"]} for one in targets}  # type: ignore[attr-defined]


def test_the_plan_prints_a_matrix_for_github(repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stage("plan", tmp_path / "out", "--shards", "8") == 0
    assert json.loads(capsys.readouterr().out) == {"shard": ["1/3", "2/3", "3/3"]}
    assert '{"shard": ["1/3", "2/3", "3/3"]}' in (tmp_path / "output").read_text()


def test_two_jobs_and_one_give_the_same_report(repo: Repo, tmp_path: Path) -> None:
    code, joined = merged(tmp_path, shards(tmp_path, "1/2", "2/2"))
    alone = tmp_path / "alone"
    assert [stage(name, alone) for name in ("plan", "measure", "render")] == [0, 0, 0]
    assert joined == json.loads((alone / "result.json").read_text())
    assert code == 1
    assert words(joined)["a"] == {"unchanged"}
    assert "regressed" in words(joined)["b"]


def test_a_lost_job_is_not_measured_and_the_gate_does_not_pass(repo: Repo, tmp_path: Path) -> None:
    code, joined = merged(tmp_path, shards(tmp_path, "1/2"))
    assert code == 3
    assert words(joined) == {"a": {"unchanged"}, "b": {"not measured"}, "c": {"unchanged"}}


def test_a_job_that_ended_early_is_as_good_as_lost(repo: Repo, tmp_path: Path) -> None:
    first, second = shards(tmp_path, "1/2", "2/2")
    (second / "evidence" / "head.json").unlink()
    assert merged(tmp_path, [first, second])[0] == 3


def test_without_any_job_nothing_is_a_pass(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, joined = merged(tmp_path, [tmp_path / "empty"])
    assert (code, joined["verdict"]) == (3, "unknown")


def test_a_job_of_other_commits_is_refused(repo: Repo, tmp_path: Path) -> None:
    (folder,) = shards(tmp_path, "1/2")
    file = folder / "evidence" / "commits.json"
    document = json.loads(file.read_text())
    document["commits"]["measured_sha"] = "0" * 40
    file.write_text(json.dumps(document))
    out = tmp_path / "merged"
    assert stage("plan", out) == 0
    assert stage("merge", out, str(folder)) == 3
    assert "measured other commits" in (tmp_path / "summary").read_text()


def test_the_same_part_twice_counts_once_and_a_second_result_is_unclear(repo: Repo, tmp_path: Path) -> None:
    parts = shards(tmp_path, "1/2", "2/2")
    shutil.copytree(parts[0], tmp_path / "copy")
    code, joined = merged(tmp_path, [*parts, tmp_path / "copy"])
    assert (code, words(joined)["a"]) == (1, {"unchanged"})

    # given a copy that says of one of its targets what the other job does not
    file = tmp_path / "copy" / "evidence" / "head-0.json"
    document = json.loads(file.read_text())
    document["result"]["report"]["totals"]["operator_macs"]["value"] += 1
    document["result"]["report"]["totals"]["operator_macs"]["known_value"] += 1
    file.write_text(json.dumps(document))
    code, joined = merged(tmp_path, [*parts, tmp_path / "copy"])
    assert code == 1  # b's regression stands
    assert words(joined) | {"b": set()} == {"a": {"not measured"}, "b": set(), "c": {"unchanged"}}


def test_a_part_leaves_evidence_of_its_own_targets_alone(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report"
    monkeypatch.setenv("TORCHSCAN_MODE", "measure")
    monkeypatch.setenv("TORCHSCAN_SHARD", "2/2")
    assert [stage(name, out) for name in ("plan", "measure", "render", "pack", "publish")] == [0] * 5
    document = json.loads((tmp_path / "report-evidence" / "evidence.json").read_text())
    assert {item["id"] for item in document["results"]} == {"b"}
    assert "torchscan-evidence-2-of-2" in (tmp_path / "output").read_text()
    assert [target["id"] for target in json.loads((out / "result.json").read_text())["targets"]] == ["b"]


@pytest.mark.parametrize("shard", ["3/2", "x"])
def test_a_part_that_does_not_exist_is_one_sentence(repo: Repo, tmp_path: Path, shard: str) -> None:
    assert stage("plan", tmp_path / "out") == 0
    assert stage("measure", tmp_path / "out", "--shard", shard) == 2
    assert "such as 2/4" in (tmp_path / "summary").read_text()


def test_results_that_were_rewritten_after_measuring_are_not_judged(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert stages(("plan", "measure", "render"), out) == [0, 0, 0]
    file = out / "evidence" / "head-1.json"
    file.write_text(file.read_text().replace("128", "64"))
    assert stage("publish", out) == 3
    assert "the results are not those that were measured: its digest differs" in capsys.readouterr().err


def test_a_gate_file_that_was_rewritten_opens_no_gate(repo: Repo, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert stages(("plan", "measure", "render", "publish"), out) == [0, 0, 0, 0]
    (out / "evidence" / "gate.json").write_text('{"exit_code": 0, "headline": "fine"}')
    assert stage("gate", out) == 1


def test_the_shard_of_another_package_is_not_taken_for_a_lost_one(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # given a matrix whose shard was lost, and another package's shard whose name the download's pattern matches as well
    monkeypatch.setenv("TORCHSCAN_ARTIFACT_NAME", "torchscan-b")
    (other,) = shards(tmp_path, "1/1")
    monkeypatch.setenv("TORCHSCAN_ARTIFACT_NAME", "torchscan")
    shutil.copytree(other, tmp_path / "merged-collected" / "torchscan-b-1-of-1")
    out = tmp_path / "merged"
    assert stages(("plan", "merge", "publish"), out) == [0, 0, 0]
    assert "torchscan-b-1-of-1 is not joined: its artifact-name is 'torchscan-b'" in capsys.readouterr().err
    assert stage("gate", out) == 3


def test_all_shards_together_have_a_cap(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = shards(tmp_path, "1/2", "2/2")
    monkeypatch.setattr("ci_action.edges.evidence_folder.MAX_TOTAL_BYTES", 1000)
    out = tmp_path / "merged"
    assert stage("plan", out) == 0
    assert stage("merge", out, *map(str, parts)) == 3
    assert "at most 1000 are read" in (tmp_path / "summary").read_text()
