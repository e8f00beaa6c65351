"""The command line on real repositories and real workers: every ending with its sentence and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest
from support.git_repositories import Repo, clone, make_repo
from support.stages import stages

from ci_action import main as cli
from ci_action.main import bug_report, main

CONFIG = dedent("""
    schema-version = 1
    [[targets]]
    id = "net"
    factory = "models.py:net"
    [[limits]]
    metric = "operator_macs"
    max-increase = "5%"
""")
MODEL = "import torch\ndef net(): return torch.nn.Linear(8, {width}), (torch.zeros(1, 8),)\n"
RAISES = "import torch\ndef net(): raise ValueError('no such width')\n"


@pytest.fixture(autouse=True)
def plain_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "temp").mkdir()
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "temp"))


def repository(tmp_path: Path, base: dict[str, str], head: dict[str, str | None]) -> Repo:
    repo = make_repo(tmp_path / "repo")
    repo.commit(dict(base), "base")
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit(head, "head")
    return repo


def run(repo: Repo, tmp_path: Path, *arguments: str) -> int:
    place = ["--directory", str(repo.path), "--out", str(tmp_path / "out"), "--python", sys.executable]
    return main(["run", "--base", "main", *place, *arguments])


def document(tmp_path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((tmp_path / "out" / "result.json").read_text())
    return found


def test_within_its_limits_a_change_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG, "models.py": MODEL.format(width=8)}, {"readme": "x"})
    before = repo.state()
    assert run(repo, tmp_path) == 0
    assert "No change" in capsys.readouterr().out
    assert repo.state() == before
    assert {"index.html", "comment.md", "result.json"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_over_a_limit_the_exit_code_is_1_and_base_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generous = CONFIG.replace("5%", "500%")
    repo = repository(
        tmp_path,
        {"torchscan.toml": CONFIG, "models.py": MODEL.format(width=8)},
        {"torchscan.toml": generous, "models.py": MODEL.format(width=16)},
    )
    assert run(repo, tmp_path, "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "fail"
    assert [row["delta"] for row in said["targets"][0]["rows"] if row["metric"] == "operator_macs"] == [64]


def test_the_working_tree_can_be_measured(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG, "models.py": MODEL.format(width=8)}, {"readme": "x"})
    (repo.path / "models.py").write_text(MODEL.format(width=16))
    assert run(repo, tmp_path) == 0
    assert run(repo, tmp_path, "--head", ".", "--quiet") == 1


def test_a_config_typo_names_file_line_key_and_the_near_match(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typo = CONFIG.replace("max-increase", "max-incraese")
    repo = repository(
        tmp_path, {"torchscan.toml": CONFIG, "models.py": MODEL.format(width=8)}, {"torchscan.toml": typo}
    )
    assert run(repo, tmp_path) == 2
    said = capsys.readouterr().err
    assert "torchscan.toml" in said
    assert "max-incraese" in said
    assert "max-increase" in said


def test_a_typo_in_bases_config_still_reports_head_and_judges_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typo = CONFIG.replace("max-increase", "max-incraese")
    repo = repository(
        tmp_path, {"torchscan.toml": typo, "models.py": MODEL.format(width=8)}, {"torchscan.toml": CONFIG}
    )
    assert run(repo, tmp_path) == 3
    assert "base's config is not valid" in capsys.readouterr().out
    assert "8" in json.dumps(document(tmp_path)["targets"])


def test_a_config_on_base_in_another_encoding_still_reports_head_and_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = repository(tmp_path, {"models.py": MODEL.format(width=8)}, {"readme": "x"})
    repo.git("checkout", "--quiet", "main")
    (repo.path / "torchscan.toml").write_bytes(CONFIG.encode("utf-16"))
    repo.commit({})
    repo.git("checkout", "--quiet", "-b", "mended")
    repo.commit({"torchscan.toml": CONFIG})
    assert run(repo, tmp_path) == 3
    said = capsys.readouterr().out
    assert "torchscan.toml is not UTF-8 text: put a plain UTF-8 text file" in said
    assert "base has no config" not in said.lower()
    assert "8" in json.dumps(document(tmp_path)["targets"])


def test_no_config_anywhere_gives_one_to_start_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = repository(tmp_path, {"models.py": MODEL.format(width=8)}, {"readme": "x"})
    assert run(repo, tmp_path) == 2
    assert 'factory = "bench/models.py:my_model"' in capsys.readouterr().err


def test_no_config_on_base_is_report_only(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"models.py": MODEL.format(width=8)}, {"torchscan.toml": CONFIG})
    assert run(repo, tmp_path) == 0


def test_a_factory_that_does_not_exist_is_named_and_the_other_target_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = CONFIG + '[[targets]]\nid = "other"\nfactory = "models.py:nett"\n'
    repo = repository(tmp_path, {"torchscan.toml": two, "models.py": MODEL.format(width=8)}, {"readme": "x"})
    assert run(repo, tmp_path) == 3
    assert "other" in capsys.readouterr().out
    assert "models.py has no 'nett'; did you mean 'net'?" in json.dumps(document(tmp_path)).replace('\\"', '"')


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_model_that_raises_on_one_side_is_not_measured_there(
    tmp_path: Path, side: str, capsys: pytest.CaptureFixture[str]
) -> None:
    models = {"base": MODEL.format(width=8), "head": MODEL.format(width=8) + "\n"} | {side: RAISES}
    repo = repository(tmp_path, {"torchscan.toml": CONFIG, "models.py": models["base"]}, {"models.py": models["head"]})
    code = run(repo, tmp_path)
    failures = document(tmp_path)["targets"][0]["failures"]  # type: ignore[index]
    assert [(item["side"], item["stage"], item["type"]) for item in failures] == [(side, "build", "ValueError")]
    assert code == (3 if side == "head" else 0)
    assert side in capsys.readouterr().out


def test_an_unknown_base_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG}, {"readme": "x"})
    assert main(["run", "--base", "origin/nope", "--directory", str(repo.path)]) == 3
    said = capsys.readouterr().err
    assert said.startswith("error: there is no commit 'origin/nope' in ")
    assert said.count("\n") == 1


def test_a_folder_that_takes_no_report_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG, "models.py": MODEL.format(width=8)}, {"readme": "x"})
    (tmp_path / "file").write_text("")
    assert run(repo, tmp_path, "--out", str(tmp_path / "file" / "report")) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: --out: nothing can be written into ")
    assert "accepted: a folder of yours" in said
    assert "[1/1]" not in said


def test_outside_of_a_clone_it_says_where_to_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--directory", str(tmp_path)]) == 3
    assert "run inside a clone, or name one: --directory" in capsys.readouterr().err


def test_a_job_without_a_checkout_is_told_to_check_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG}, {"readme": "x"})
    (tmp_path / "empty").mkdir()
    out = str(pull_request(repo, tmp_path, monkeypatch, GITHUB_WORKSPACE=str(tmp_path / "empty")))
    assert main(["plan", "--out", out]) == 3
    assert "run actions/checkout before this action" in capsys.readouterr().err
    monkeypatch.setenv("TORCHSCAN_WORKING_DIRECTORY", "packages/a")
    assert main(["plan", "--out", out]) == 2
    assert "check the repository out before this step, or correct" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["run", "--nope"], ["nope"], ["run", "--directory", "/nowhere"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "Error" in capsys.readouterr().err


def pull_request(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> Path:
    """Make the environment of a pull_request job whose workspace is ``repo`` at the merge commit."""
    pull = {
        "number": 7,
        "head": {"sha": repo.git("rev-parse", "feature"), "ref": "feature", "repo": {"full_name": "o/r"}},
        "base": {"sha": repo.git("rev-parse", "main"), "ref": "main", "repo": {"full_name": "o/r"}},
    }
    repo.git("checkout", "--quiet", "--detach", "main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "feature")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"number": 7, "pull_request": pull, "repository": {"default_branch": "main"}}))
    environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(repo.path),
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_SHA": repo.git("rev-parse", "HEAD"),
        "GITHUB_RUN_ID": "1",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "TORCHSCAN_PYTHON": sys.executable,
        **variables,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "report"


def test_the_stages_deliver_everything_and_the_gate_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = repository(
        tmp_path,
        {"torchscan.toml": CONFIG, "models.py": MODEL.format(width=8)},
        {"models.py": "print('::error::pwned')\n" + MODEL.format(width=16)},
    )
    out = str(pull_request(repo, tmp_path, monkeypatch))
    before = repo.state()
    codes = stages(("plan", "measure", "render", "publish", "gate"), out)
    assert codes == [0, 0, 0, 0, 1]
    assert repo.state() == before
    assert "net" in (tmp_path / "summary").read_text(encoding="utf-8")
    outputs = (tmp_path / "output").read_text(encoding="utf-8")
    assert "\nfail\n" in outputs
    said = capsys.readouterr().err
    assert "::error title=TorchScan,file=torchscan.toml,line=" in said
    stopped = said.partition("::stop-commands::")[2]
    assert ": :error::pwned" in stopped
    assert not [line for line in said.splitlines() if line.lstrip().startswith("::error::pwned")]


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ("# a line more\n" + CONFIG, "file=torchscan.toml,line=7::"),
        (CONFIG.replace("5%", "500%"), "file=torchscan.toml::"),
        (None, "title=TorchScan::"),
    ],
    ids=["moved by head", "changed by head", "removed by head"],
)
def test_an_exceeded_limit_is_annotated_where_head_has_it(
    config: str | None, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # given limits of base, and annotations that GitHub shows beside head's lines
    base = {"torchscan.toml": CONFIG + 'on-removed = "fail"\n', "models.py": MODEL.format(width=8)}
    head = {"torchscan.toml": config and config + 'on-removed = "fail"\n', "models.py": MODEL.format(width=16)}
    repo = repository(tmp_path, base, head)
    out = str(pull_request(repo, tmp_path, monkeypatch))
    assert stages(("plan", "measure", "publish"), out) == [0, 0, 0]
    (said,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("::error")]
    assert f"{place}net, operator_macs: " in said


def test_a_stage_without_the_one_before_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG}, {"readme": "x"})
    out = str(pull_request(repo, tmp_path, monkeypatch))
    assert main(["measure", "--out", out]) == 3
    assert "run `torchscan-ci plan` first" in (tmp_path / "summary").read_text(encoding="utf-8")
    assert main(["gate", "--out", out]) == 3


def test_a_shallow_clone_without_its_base_still_reports_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = repository(
        tmp_path, {"torchscan.toml": CONFIG, "models.py": MODEL.format(width=8)}, {"models.py": MODEL.format(width=9)}
    )
    pull_request(origin, tmp_path, monkeypatch)
    origin.git("branch", "merged", "HEAD")
    shallow = clone(origin, tmp_path / "shallow", "--depth=1", "--branch=merged")
    shallow.git("remote", "set-url", "origin", "file:///nowhere")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(shallow.path))
    assert main(["run", "--out", str(tmp_path / "out")]) == 3
    assert "fetch-depth: 0" in capsys.readouterr().out
    assert document(tmp_path)["verdict"] == "unknown"
    assert "72" in json.dumps(document(tmp_path)["targets"])  # head's 8 x 9 multiply-accumulates


def test_a_dangerous_event_is_refused_before_git_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG}, {"readme": "x"})
    out = str(pull_request(repo, tmp_path, monkeypatch, GITHUB_EVENT_NAME="pull_request_target", PATH="/nowhere"))
    assert main(["plan", "--out", out]) == 2
    assert "may not measure" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "place"),
    [
        (CONFIG + "max = = 2\n", ",line=9,col=7::"),
        (CONFIG + "max-incraese = '5%'\n", ",line=9::"),
    ],
    ids=["syntax", "unknown key"],
)
def test_a_wrong_config_is_annotated_at_its_line_whatever_its_folder_is_called(
    config: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = "a,line=1::b%0A"
    repo = repository(tmp_path, {f"{folder}/torchscan.toml": CONFIG}, {f"{folder}/torchscan.toml": config})
    out = str(pull_request(repo, tmp_path, monkeypatch, TORCHSCAN_WORKING_DIRECTORY=folder))
    assert main(["plan", "--out", out]) == 2
    (said,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("::error")]
    assert said.startswith(f"::error title=TorchScan,file=a%2Cline=1%3A%3Ab%250A/torchscan.toml{place}")


def test_a_deleted_branch_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG}, {"readme": "x"})
    out = str(pull_request(repo, tmp_path, monkeypatch, GITHUB_EVENT_NAME="push"))
    (tmp_path / "event.json").write_text(json.dumps({"deleted": True, "after": "0" * 40}))
    assert main(["plan", "--out", out]) == 0
    assert "skip<<" in (tmp_path / "output").read_text()


def test_check_says_what_would_be_measured_and_load_tries_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = repository(tmp_path, {"torchscan.toml": CONFIG, "models.py": RAISES}, {"readme": "x"})
    place = ["--directory", str(repo.path), "--python", sys.executable]
    assert main(["check", *place]) == 0
    assert "target net: models.py:net, full analysis on cpu" in capsys.readouterr().out
    assert main(["check", "--load", *place]) == 2
    assert "net cannot be loaded (build): ValueError: no such width" in capsys.readouterr().out


def test_a_monorepo_package_is_measured_by_its_own_config(tmp_path: Path) -> None:
    repo = repository(
        tmp_path,
        {"packages/a/torchscan.toml": CONFIG, "packages/a/models.py": MODEL.format(width=8)},
        {"packages/a/models.py": MODEL.format(width=16)},
    )
    out = ["--out", str(tmp_path / "out"), "--python", sys.executable]
    assert main(["run", "--base", "main", "--directory", str(repo.path / "packages" / "a"), *out]) == 1
    assert document(tmp_path)["working_directory"] == "packages/a"


def test_a_bug_gives_a_report_without_values(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("token=s3cret")

    monkeypatch.setattr(cli.cli, "main", broken)
    assert main(["run"]) == 70
    said = capsys.readouterr().err
    assert "RuntimeError at" in said
    assert "main.py:" in said
    assert "s3cret" not in said
    assert "s3cret" not in bug_report(RuntimeError("s3cret"))


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize("signal_name", ["INT", "TERM"])
def test_an_interrupted_run_cleans_up_and_ends_with_130(tmp_path: Path, signal_name: str) -> None:
    slow = "import os, time\ndef net():\n    open(os.environ['MARK'], 'w').close()\n    time.sleep(60)\n"
    config = 'pass-env = ["MARK"]\n' + CONFIG
    repo = repository(tmp_path, {"torchscan.toml": config, "models.py": slow}, {"readme": "x"})
    before = repo.state()
    mark = tmp_path / "mark"
    command = [sys.executable, "-m", "ci_action", "run", "--base", "main", "--python", sys.executable]
    child = subprocess.Popen(command, cwd=repo.path, env={**os.environ, "MARK": str(mark)}, stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.05)
    subprocess.run(["kill", f"-{signal_name}", str(child.pid)], check=True)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130, said
    assert repo.state() == before
    assert not list((tmp_path / "temp").glob("torchscan-[!r]*"))


def test_run_measures_nothing_in_a_step_that_holds_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = repository(tmp_path, {"models.py": MODEL.format(width=8)}, {"readme": "x"})
    (tmp_path / "event.json").write_text("{}")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repo.path))
    monkeypatch.setenv("TORCHSCAN_TOKEN", "ghs_secret")
    assert main(["run", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "use the action, whose measuring step has no token" in said
    assert "ghs_secret" not in said
