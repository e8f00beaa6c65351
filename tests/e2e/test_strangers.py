"""Pull requests that once merged when they must not, or lost their whole run: each through a real runner."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from support.rig import widget
from support.rig.interpreter import torch_only_interpreter
from support.rig.repository import Consumer, consumer
from support.rig.runner import Run
from support.rig.scene import Scene
from support.rig.server import FakeGitHub

pytestmark = pytest.mark.e2e

SceneMaker = Callable[[Path, Consumer], Scene]


@pytest.fixture(autouse=True)
def comment_for_the_note(github: FakeGitHub, request: pytest.FixtureRequest) -> object:
    """Keep the comment that came out, where TORCHSCAN_KEEP_COMMENTS names a folder."""
    yield
    if folder := os.environ.get("TORCHSCAN_KEEP_COMMENTS"):
        bodies = [comment["body"] for comment in github.state.comments_of(7)]
        Path(folder, f"{request.node.name}.md").write_text("\n\n".join(bodies), encoding="utf-8")


def body(github: FakeGitHub) -> str:
    (comment,) = github.state.comments_of(7)
    return comment["body"].replace("\u00a0", " ")  # type: ignore[no-any-return]


def document(run: Run) -> dict[str, object]:
    return json.loads(run.outputs["torchscan"]["json"])  # type: ignore[no-any-return]


TIMED = """
schema-version = 1
threads = 1

[[targets]]
id = "net"
factory = "bench/models.py:net"
[targets.benchmark]
metrics = ["latency", "peak_memory"]
pairs = 3

[[limits]]
metric = "peak_memory"
max-increase = "0%"
"""

LATE = """
import pathlib, torch
from torch import nn

class Net(nn.Module):
    def __init__(self, raises):
        super().__init__()
        self.layer, self.raises = nn.Linear(64, 64), raises

    def forward(self, x):
        if self.raises:
            raise RuntimeError("late")
        scratch = torch.empty({floats})
        return self.layer(x)

def net():
    seen = pathlib.Path({folder!r})
    mine = len(list(seen.iterdir()))
    (seen / str(mine)).touch()
    return Net(mine >= {good}), (torch.zeros(8, 64),)
"""
"""``good`` processes of a side build a model that works: the analysis, the probe, and so many of the timed ones."""


def test_a_head_that_fails_late_does_not_hide_the_limit_that_it_exceeds(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    for side in ("base", "head"):
        (tmp_path / side).mkdir()
    # head takes 4 Mi floats (16 MiB) more and raises in its second timed process, after its memory was measured
    base = LATE.format(floats=64, folder=str(tmp_path / "base"), good=1000)
    head = LATE.format(floats=4 << 20, folder=str(tmp_path / "head"), good=3)
    files = {"torchscan.toml": TIMED, ".github/workflows/torchscan.yml": widget.WORKFLOW, "bench/models.py": base}
    made = consumer(tmp_path / "repo", base=files, head={"bench/models.py": head})
    run = make_scene(tmp_path / "runner", made).run()

    assert run.exit_code == 1, run.log
    (target,) = document(run)["targets"]  # type: ignore[misc]
    (row,) = (row for row in target["rows"] if row["metric"] == "peak_memory")
    assert (row["gate"], row["word"]) == ("fail", "regressed")
    assert row["head"]["value"] - row["base"]["value"] == 4 * ((4 << 20) - 64)  # bytes of the floats that head adds
    assert [(item["side"], item["type"]) for item in target["failures"]] == [("head", "RuntimeError")]
    assert body(github).splitlines()[1].startswith("### ❌ Regression: `net` tensor peak")


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "mypkg"
version = "1.0"

[tool.hatch.build.targets.wheel]
packages = ["python/mypkg"]
"""
NET = """
import torch
from torch import nn

def classifier():
    return nn.Linear(64, {hidden}), (torch.zeros(8, 64),)
"""
IMPORTED = widget.CONFIG.replace("bench/models.py:classifier", "mypkg.net:classifier")
INSTALLING = widget.WORKFLOW.replace(
    "      - id: torchscan\n", "      - run: python -m pip install --quiet .\n      - id: torchscan\n"
)


def installed_scene(make_scene: SceneMaker, tmp_path: Path, config: str) -> Scene:
    """A package under python/, as maturin keeps it, that the job installs from the pull request's checkout."""

    def package(hidden: int) -> dict[str, str]:
        return {"python/mypkg/__init__.py": "", "python/mypkg/net.py": NET.format(hidden=hidden)}

    files = {"torchscan.toml": config, ".github/workflows/torchscan.yml": INSTALLING, "pyproject.toml": PROJECT}
    made = consumer(tmp_path / "repo", base={**files, **package(32)}, head=package(64))
    scene = make_scene(tmp_path / "runner", made)
    own = torch_only_interpreter(tmp_path / "venv")  # the job installs into it
    return dataclasses.replace(scene, runner=dataclasses.replace(scene.runner, python=own))


def test_base_is_not_measured_with_the_installed_code_of_head(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    run = installed_scene(make_scene, tmp_path, IMPORTED).run()

    # on-missing-base is "warn" where the owner writes nothing: the job is green, and nothing is called passed
    assert (run.exit_code, run.outputs["torchscan"]["verdict"]) == (0, "warn"), run.log
    (target,) = document(run)["targets"]  # type: ignore[misc]
    assert [(item["side"], item["stage"]) for item in target["failures"]] == [("base", "isolation")]
    assert "No change" not in body(github)
    assert "Gate **not judged**" in body(github)
    assert "add 'python' to import-paths" in body(github)


def test_with_the_folder_that_the_sentence_names_both_sides_are_measured(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    config = IMPORTED.replace("schema-version = 1", 'schema-version = 1\nimport-paths = ["python"]')
    run = installed_scene(make_scene, tmp_path, config).run()

    assert run.exit_code == 1, run.log
    (target,) = document(run)["targets"]  # type: ignore[misc]
    (row,) = (row for row in target["rows"] if row["metric"] == "operator_macs")
    assert (row["base"]["value"], row["head"]["value"]) == (8 * 64 * 32, 8 * 64 * 64)  # 16,384 and 32,768
    assert body(github)


def test_a_thread_that_a_model_leaves_behind_costs_nothing(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    sleeper = "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()\n"
    made = consumer(tmp_path / "repo", base=widget.base(32), head=widget.model(33, prologue=sleeper))
    began = monotonic()
    run = make_scene(tmp_path / "runner", made).run()

    assert run.exit_code == 0, run.log
    assert monotonic() - began < 120  # it waited 12 minutes before, and then lost everything
    assert [target["id"] for target in document(run)["targets"]] == ["classifier"]  # type: ignore[attr-defined]
    assert "Gate **passed**" in body(github)


def test_a_dependency_bump_is_named_and_is_not_no_change(
    github: FakeGitHub, make_scene: SceneMaker, tmp_path: Path
) -> None:
    files = {**widget.base(32), "requirements.txt": "tinydep==1.0\n"}
    made = consumer(tmp_path / "repo", base=files, head={"requirements.txt": "tinydep==2.0\n"})
    run = make_scene(tmp_path / "runner", made).run()

    assert run.exit_code == 0, run.log
    first_lines = body(github).splitlines()[:6]
    assert any("requirements.txt" in line for line in first_lines), first_lines
    assert "### ✅ No change" not in body(github)
