"""Whole runs in which a side fails at one stage, in one way: what was measured by then decides, and nothing else.

Head takes more memory than its limit allows, in every target. So a row of memory is "fail" wherever both sides were
measured before something failed; where one was not, the limit's policy answers. It is never a pass, whoever failed.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from io import StringIO
from textwrap import dedent
from typing import Any

import pytest
from support.git_repositories import make_repo

from ci_action.main import main

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="a worker is spoken to over inherited descriptors"),
    pytest.mark.slow,
]

# The n-th process of a side that builds a target: 1 analyses it, 2 measures its memory, 3 to 5 its resident set.
ANALYSIS, MEMORY, FIRST, SECOND = 1, 2, 3, 4

FAILING = {
    # target: (failing side, failing process, how it fails)
    "head-build": ("head", ANALYSIS, "build"),
    "head-analysis": ("head", ANALYSIS, "raise"),
    "head-memory": ("head", MEMORY, "exit"),
    "base-memory": ("base", MEMORY, "raise"),
    "head-first": ("head", FIRST, "signal"),
    "head-second": ("head", SECOND, "raise"),
    "head-hang": ("head", FIRST, "hang"),
    "head-out-of-memory": ("head", FIRST, "eat"),
    "base-first": ("base", FIRST, "exit"),
    "head-never": ("nobody", 0, "raise"),
}
UNKNOWN = {"head-build", "head-analysis", "head-memory"}

MODELS = """
import os, pathlib, signal, sys, time
import torch
from torch import nn

SIDE, FLOATS, FOLDER = {side!r}, {floats}, pathlib.Path({folder!r})


def fail(how):
    if how == "raise":
        raise RuntimeError("it fails here")
    if how == "exit":
        os._exit(7)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hang":
        time.sleep(3600)
    kept = []
    while how == "eat":
        kept.append(torch.ones(32 << 20))


class Net(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.layer, self.how = nn.Linear(64, 64), how

    def forward(self, x):
        if self.how:
            fail(self.how)
        scratch = torch.empty(FLOATS)
        return self.layer(x)


def made(name, side, process, how):
    def factory():
        seen = FOLDER / name
        seen.mkdir(exist_ok=True)
        number = len(list(seen.iterdir())) + 1
        (seen / str(number)).touch()
        is_failing = (SIDE, number) == (side, process)
        if is_failing and how == "build":
            raise ValueError("no such size")
        return Net(how if is_failing else ""), (torch.zeros(8, 64),)
    return factory


for name, (side, process, how) in {failing!r}.items():
    globals()[name.replace("-", "_")] = made(name, side, process, how)
"""

CONFIG = dedent("""
    schema-version = 1
    threads = 1
    timeout-seconds = 20
    memory-limit = "1.5 GiB"
""") + "".join(
    dedent(f"""
    [[targets]]
    id = "{name}"
    factory = "models.py:{name.replace("-", "_")}"
    [targets.benchmark]
    metrics = ["peak_memory", "process_peak_rss"]
    [[limits]]
    targets = ["{name}"]
    metric = "peak_memory"
    max-increase = "0%"
    """)
    for name in FAILING
)


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One run over all targets: each by its id."""
    folder = tmp_path_factory.mktemp("failing")
    files = {}
    for side, floats in (("base", 64), ("head", 4096)):
        (folder / side).mkdir()
        files[side] = MODELS.format(side=side, floats=floats, folder=str(folder / side), failing=FAILING)
    repo = make_repo(folder / "repo")
    repo.commit({"torchscan.toml": CONFIG, "models.py": files["base"]}, "base")
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({"models.py": files["head"]}, "head")
    out = folder / "out"
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
                patch.delenv(name)
        where = ["--directory", str(repo.path), "--out", str(out), "--python", sys.executable]
        with redirect_stdout(StringIO()) as said:
            code = main(["run", "--base", "main", *where, "--json"])
    assert code == 1
    return {target["id"]: target for target in json.loads(said.getvalue())["targets"]}


@pytest.mark.parametrize("name", list(FAILING))
def test_a_limit_is_judged_by_what_was_measured_whatever_failed(targets: dict[str, dict[str, Any]], name: str) -> None:
    side, _, _ = FAILING[name]
    target = targets[name]
    (row,) = (row for row in target["rows"] if row["metric"] == "peak_memory")

    # where base alone has no value, on-missing-base answers, and it is "warn" where the owner writes nothing
    expected = "unknown" if name in UNKNOWN else "warn" if name == "base-memory" else "fail"
    assert row["gate"] == expected, target
    assert [item["side"] for item in target["failures"]] == ([] if side == "nobody" else [side])
    if expected == "fail":
        assert row["delta"] == 4 * (4096 - 64)  # bytes of the floats that head adds


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("head-build", "ValueError", "no such size"),
        ("head-analysis", "RuntimeError", "it fails here"),
        ("head-memory", "WorkerDied", "exit code 7"),
        ("head-first", "WorkerDied", "SIGSEGV"),
        ("head-hang", "Timeout", "20 s"),
        ("head-out-of-memory", "MemoryLimit", "1.5 GiB"),
        ("base-first", "WorkerDied", "exit code 7"),
    ],
)
def test_each_failure_says_what_happened(targets: dict[str, dict[str, Any]], name: str, kind: str, words: str) -> None:
    (failure,) = targets[name]["failures"]

    assert failure["type"] == kind
    assert words in failure["message"]
