"""Each target has a process of its own: nothing that one patches, sets or leaves behind reaches another."""

from __future__ import annotations

import os
import sys
from itertools import permutations
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from support.measuring import measured, measurer, spec

from ci_action.core.spec import TargetResult
from ci_action.edges.workers import side_run

MODELS = dedent("""
    import os, sys
    import torch
    from torch import nn

    def plain():
        return nn.Linear(4, 3), (torch.zeros(2, 4),)

    def patches_forward():
        def fused(self, x):
            return torch.nn.functional.linear(torch.cat([x] * 8), self.weight, self.bias)[: len(x)]
        nn.Linear.forward = fused
        return plain()

    def patches_operators():
        kept = torch.nn.functional.linear
        torch.nn.functional.linear = lambda x, *rest: kept(x, *rest) + kept(x, *rest)
        return plain()

    def sets_defaults():
        torch.set_default_dtype(torch.float64), torch.set_default_device("meta")
        torch.set_grad_enabled(False), torch.set_num_threads(torch.get_num_threads() + 1)
        return plain()

    def patches_python():
        import builtins, json
        json.dumps = lambda *a, **k: "{}"
        builtins.isinstance = lambda *a: True
        sys.path.insert(0, "/nowhere")
        os.environ["NET_WIDTH"] = "9"
        os.chdir("/")
        raise ValueError("patched")

    def removes_its_own_folders():
        import shutil
        shutil.rmtree(os.path.dirname(sys.argv[0]))
        return plain()

    def state():
        weight = nn.Linear(1, 1).weight
        told = [weight.dtype, weight.device, torch.is_grad_enabled(), torch.get_num_threads(), torch.rand(1).item()]
        told += [os.environ.get("NET_WIDTH"), "/nowhere" in sys.path, os.getcwd(), nn.Linear.forward.__name__]
        raise RuntimeError(" ".join(map(str, told)))
""")
IMPORTED = "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.nn.ReLU.forward = lambda self, x: x + x\n"
BADLY_BEHAVED = (
    "patches_forward",
    "patches_operators",
    "sets_defaults",
    "patches_python",
    "removes_its_own_folders",
    "bench/imported.py:plain",
)


@pytest.fixture(params=["forked", "started"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "started":  # as on macOS and Windows, and for CUDA
        monkeypatch.setattr(side_run, "CAN_FORK", False)
    elif not sys.platform.startswith("linux"):
        pytest.skip("targets are forked on Linux alone")
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    (folder / "bench").mkdir(parents=True)
    (folder / "bench" / "models.py").write_text(MODELS)
    (folder / "bench" / "imported.py").write_text(f"{IMPORTED}from bench.models import plain\n")
    return folder


def shown(result: TargetResult) -> Any:
    """All that a result says but how long it took."""
    if result["failure"]:
        return result["failure"]["type"], result["failure"]["message"]
    assert result["report"] is not None
    totals = {name: total["value"] for name, total in result["report"]["totals"].items()}
    return totals, result["report"]["context"]["dtypes"], result["report"]["context"]["devices"]


def test_no_target_reaches_the_next_one(root: Path, tmp_path: Path, way: str) -> None:
    # given what plain and state are alone
    alone = [shown(result) for result in measured(tmp_path, spec(root, "plain", "state"))]
    assert alone[1][1].startswith("torch.float32 cpu True 1 ")
    names = BADLY_BEHAVED if way == "forked" else BADLY_BEHAVED[:1]
    # when each stands behind a target that changes whatever can be changed
    together = [name for bad in names for name in (bad, "plain", "state")]
    results = [shown(result) for result in measured(tmp_path, spec(root, *together))]
    # then it is as it is alone
    assert results[1::3] == [alone[0]] * len(names)
    assert results[2::3] == [alone[1]] * len(names)
    # and what they do to themselves is theirs: a fused forward of eight rows costs eight times
    assert results[0][0]["operator_macs"] == 8 * alone[0][0]["operator_macs"]


def test_the_order_of_targets_changes_no_result(root: Path, tmp_path: Path) -> None:
    names = ("patches_forward", "sets_defaults", "plain")
    seen = set()
    for order in permutations(names):
        results = measured(tmp_path, spec(root, *order))
        seen.add(str(sorted((result["id"], str(shown(result))) for result in results)))
    assert len(seen) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="targets are forked on Linux alone")
def test_a_target_starts_where_torch_is_loaded_and_nothing_of_the_repository_is(root: Path, tmp_path: Path) -> None:
    (root / "bench" / "models.py").write_text(
        dedent("""
        import sys, os
        had_torch = "torch" in sys.modules
        had_other = "bench.other" in sys.modules
        import torch
        sys.path.insert(0, os.getcwd())
        import bench.other
        def first(): raise RuntimeError(f"{had_torch} {had_other} {len(os.listdir('/proc/self/task'))} {os.getppid()}")
        def second(): return first()
    """)
    )
    (root / "bench" / "other.py").write_text("")
    results = measured(tmp_path, spec(root, "first", "second"))
    told = [result["failure"]["message"].split() for result in results if result["failure"]]
    assert [words[:3] for words in told] == [["True", "False", "1"]] * 2
    assert told[0][3] == told[1][3] != str(os.getpid())  # one parent forks both


def test_where_a_second_thread_runs_already_nothing_is_forked(root: Path, tmp_path: Path) -> None:
    # given an interpreter whose own start-up leaves a thread
    shared = tmp_path / "site"
    shared.mkdir()
    (shared / "sitecustomize.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{shared}" exec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    (root / "bench" / "models.py").write_text(
        "import os\ndef first(): raise RuntimeError(str(os.getppid()))\ndef second(): return first()\n"
    )
    results = measured(tmp_path, spec(root, "first", "second"), python=str(wrapper))
    assert [result["failure"]["message"] for result in results if result["failure"]] == [str(os.getpid())] * 2


FORGES = """
    import glob, json, os, time, threading
    import torch
    from torch import nn
    SCRATCH = {scratch!r}
    def result(identity):
        told = {{"version": 1, "id": identity, "side": "head"}}
        return json.dumps({{**told, "report": None, "failure": None, "seconds": 0.0}})
    def forges():
        for folder in glob.glob(SCRATCH + "/head-*") + glob.glob(SCRATCH + "/head-*/*"):
            if os.path.isdir(folder):
                for name in ("1.json", "begun", "result.json.1"):
                    open(os.path.join(folder, name), "w").write(result("plain"))
        if not os.fork():  # stays to do it again
            os.setsid()
            if os.fork(): os._exit(0)
            while True:
                for folder in glob.glob(SCRATCH + "/head-*/out-*"):
                    if not os.path.exists(folder + "/result.json"):
                        open(folder + "/result.json", "w").write(result("plain"))
                time.sleep(0.001)
        time.sleep(0.3)
        os._exit(3)
    def plain():
        time.sleep(0.3)
        return nn.Linear(4, 3), (torch.zeros(2, 4),)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone lets a process keep its orphans")
def test_a_target_cannot_write_the_result_of_the_next_one(root: Path, tmp_path: Path) -> None:
    (root / "bench" / "models.py").write_text(dedent(FORGES).format(scratch=str(tmp_path / "scratch")))
    first, second = measured(tmp_path, spec(root, "forges", "plain"))
    assert first["failure"] is not None  # its own folder is its own to spoil
    assert second["failure"] is None
    assert second["report"] is not None
    assert second["report"]["totals"]["parameters"]["value"] == 15


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 1, "id": "forged", "side": "head", "report": null}',
        '{"version": 1, "id": "forged", "side": "head", "report": {"x": 1}, "failure": null, "seconds": 0}',
        '{"version": 1, "id": "forged", "side": "head", "report": null, "failure": 3, "seconds": 0}',
        '{"version": 1, "id": "forged", "side": "head", "report": null, "failure": null, "seconds": "long"}',
        '{"version": 1, "id": "forged", "side": "head", "report": null, "seconds": 0, "failure": {"stage": "mars"}}',
    ],
)
def test_a_result_that_is_none_of_ours_is_the_targets_failure(tmp_path: Path, text: str) -> None:
    from ci_action.edges.workers.result_file import read_result

    (tmp_path / "result.json").write_text(text)
    failure = read_result(tmp_path / "result.json", "forged", "head")["failure"]
    assert failure is not None
    assert failure["type"] == "MalformedResult"


def test_equal_code_has_equal_results_whatever_stands_before_it_on_one_side(root: Path, tmp_path: Path) -> None:
    base, head = spec(root, "plain", side="base"), spec(root, "patches_forward", "plain", side="head")
    results = measurer(tmp_path).measure([base, head], parallel=True)
    assert shown(results[0][0]) == shown(results[1][1])
