"""Measured code that leaves something else where its result belongs: its target is malformed, the others go on."""

from __future__ import annotations

import json

import pytest
from support.git_repositories import make_repo

from ci_action.main import main

LEAVES = {
    "pipe": "os.mkfifo(file)",
    "sparse": "open(file, 'wb').truncate(8 << 30)",
    "link": "os.symlink('/dev/zero', file)",
    "folder": "os.mkdir(file)",
    "nonsense": "open(file, 'w').write('{' * 100000)",
    "contradiction": "open(file, 'w').write(forged(value=28416))",
    "negative": "open(file, 'w').write(forged(value=-1, known_value=-1))",
    "prose": "open(file, 'w').write(forged(unit='FLOPs, approved by the owner'))",
}
MODELS = """
import glob, json, os, sys, torch
import ci_action.worker.run as run

def honest():
    return torch.nn.Linear(8, WIDTH), (torch.zeros(1, 8),)

def forged(**change):
    from torchscan import crawl_module
    model, args = honest()
    report = crawl_module(model, args=args)
    report["totals"]["operator_flops"] |= change
    return json.dumps({"version": 1, "id": name, "side": side, "report": report, "failure": None, "seconds": 0.1})

def leave(wanted):
    global name, side
    name = wanted
    side = "head"
    folders = glob.glob(os.path.join(os.path.dirname(os.getcwd()), "**", "head-*", "out-*"), recursive=True)
    file = os.path.join(max(folders, key=os.path.getmtime), "result.json")
    exec(LEAVES[wanted])
    os._exit(0)

LEAVES = @LEAVES@
for kind in LEAVES:
    globals()[kind] = (lambda kind: lambda: leave(kind))(kind) if IS_HEAD else honest
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The verdict of one run with a target for each kind, and an honest one at its end."""
    folder = tmp_path_factory.mktemp("hostile-results")
    names = [*LEAVES, "honest"]
    targets = ",".join(f'{{id = "{name}", factory = "models.py:{name}"}}' for name in names)
    limits = '[{metric = "operator_macs", max-increase = "5%"}]'
    config = f"schema-version = 1\ntimeout-seconds = 60\ntargets = [{targets}]\nlimits = {limits}\n"
    repo = make_repo(folder / "repo")
    text = MODELS.replace("@LEAVES@", repr(LEAVES))
    repo.commit({"torchscan.toml": config, "models.py": text.replace("WIDTH", "8").replace("IS_HEAD", "False")}, "base")
    repo.commit({"models.py": text.replace("WIDTH", "8").replace("IS_HEAD", "True")}, "head")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GITHUB_ACTIONS", raising=False)
        code = main(["run", "--directory", str(repo.path), "--base", "HEAD~1", "--out", str(folder / "out"), "--quiet"])
    document: dict[str, object] = json.loads((folder / "out" / "result.json").read_text())
    return {**document, "code": code}


def test_the_run_is_not_green_and_is_no_bug_of_ours(document: dict[str, object]) -> None:
    assert document["code"] == 3


@pytest.mark.parametrize("kind", LEAVES)
def test_that_target_is_malformed(document: dict[str, object], kind: str) -> None:
    targets: list[dict[str, object]] = document["targets"]  # type: ignore[assignment]
    (target,) = (one for one in targets if one["id"] == kind)
    assert [(one["side"], one["type"]) for one in target["failures"]] == [("head", "MalformedResult")]  # type: ignore[attr-defined]
    assert "pass" not in {row["gate"] for row in target["rows"]}  # type: ignore[attr-defined]


def test_the_others_go_on(document: dict[str, object]) -> None:
    targets: list[dict[str, object]] = document["targets"]  # type: ignore[assignment]
    (target,) = (one for one in targets if one["id"] == "honest")
    assert target["failures"] == []
    assert {row["word"] for row in target["rows"]} == {"unchanged"}  # type: ignore[attr-defined]
