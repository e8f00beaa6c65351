"""A whole run that times something: a repository, both worktrees, lockstep workers, rows, notes and evidence."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from support.git_repositories import make_repo

from ci_action.core.timing.evidence_file import read_evidence
from ci_action.main import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a worker is spoken to over inherited descriptors")

CONFIG = dedent("""
    schema-version = 1
    [[targets]]
    id = "net"
    factory = "models.py:net"
    [targets.benchmark]
    metrics = ["latency", "peak_memory", "process_peak_rss"]
    pairs = 1
    output-check = { rtol = 1e-4, atol = 1e-5 }
    [[limits]]
    metric = "peak_memory"
    max-increase = "0%"
""")
MODEL = "import torch\ndef net(): return torch.nn.Linear(64, 64).eval(), (torch.ones(1, 64),)\n"
# the same numbers, and one intermediate more: 4,096 more floats are alive at the peak
WASTEFUL = dedent("""
    import torch

    class Wasteful(torch.nn.Linear):
        def forward(self, x):
            kept = torch.zeros(4096)
            return super().forward(x) + kept[0]

    def net(): return Wasteful(64, 64).eval(), (torch.ones(1, 64),)
""")


def test_timings_are_described_and_memory_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # given a head that computes the same with more memory
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "TORCHSCAN_", "RUNNER_")):
            monkeypatch.delenv(name)
    repo = make_repo(tmp_path / "repo")
    repo.commit({"torchscan.toml": CONFIG, "models.py": MODEL}, "base")
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({"models.py": WASTEFUL}, "head")
    out = tmp_path / "out"
    # when it is run
    code = main(
        [
            "run",
            "--base",
            "main",
            "--directory",
            str(repo.path),
            "--out",
            str(out),
            "--python",
            sys.executable,
            "--json",
        ]
    )
    # then the exact peak fails, and one pair proves nothing about time
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    rows = {row["metric"]: row for row in target["rows"]}
    assert (code, rows["peak_memory"]["word"], rows["peak_memory"]["gate"]) == (1, "regressed", "fail")
    assert rows["peak_memory"]["delta"] >= 4096 * 4
    assert (rows["latency"]["word"], rows["latency"]["gate"]) == ("inconclusive", "none")
    assert rows["latency"]["reason"] == "1 of 1 pairs were measured, 6 are needed"
    assert rows["process_peak_rss"]["head"]["value"] > 50 << 20
    # and the evidence lies beside the report
    (kept,) = json.loads((out / "evidence" / "benchmarks.json").read_text())["benchmarks"]
    evidence = read_evidence(kept)
    assert evidence["output_check"]["verdict"] == "passed"
    assert [item["kind"] for item in evidence["rounds"]] == ["pair"]
