"""Real workers on small models: every way a target can end becomes one result."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from textwrap import dedent

import psutil
import pytest
from support.measuring import measured, measurer, spec

from ci_action.core.spec import TargetResult
from ci_action.edges.workers.child import ChildMeasurer
from ci_action.edges.workers.interpreter import unfit
from ci_action.edges.workers.place import ChildLimits
from ci_action.errors import ConfigError, MeasurementError

MODELS = dedent("""
    import os, signal, sys, time
    import torch
    from torch import nn

    def tiny():
        print("::set-output name=x::pwned")
        return nn.Linear(4, 3), (torch.zeros(2, 4),)

    def random_weights():
        return {"model": nn.Linear(4, 3), "args": (torch.zeros(1, 4),)}

    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 4)
        def forward(self, x):
            self.first(x)
            raise RuntimeError("shapes do not match in " + __file__)

    def broken(): return Broken(), (torch.zeros(1, 4),)
    def build_error(): raise ValueError("no such size")
    def exits(): sys.exit(3)
    def hard_exit(): os._exit(7)
    def killed(): os.kill(os.getpid(), signal.SIGKILL)
    def segfault(): os.kill(os.getpid(), signal.SIGSEGV)
    def sleeps(): time.sleep(60)
    def number(): return 3
    def no_inputs(): return nn.Linear(4, 3)
    def meta(): return nn.Linear(1 << 20, 1 << 20), (torch.zeros(1, 1 << 20),)
    def hungry():
        block = bytearray(600 << 20)
        time.sleep(60)
    def environment():
        raise RuntimeError(" ".join(sorted(os.environ)))
    def modules():
        ours = ("click", "jsonschema", "requests", "psutil")
        raise RuntimeError(" ".join(name for name in ours if name in sys.modules) or "none")
    def long_error(): raise ValueError("x" * 5000)
""")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    (folder / "bench").mkdir(parents=True)
    (folder / "bench" / "models.py").write_text(MODELS)
    return folder


def test_both_sides_give_one_result_per_target_in_order(root: Path, tmp_path: Path) -> None:
    outputs: dict[str, str] = {}
    sides = [spec(root, "tiny", "random_weights", side=side) for side in ("base", "head")]
    results = measurer(tmp_path, on_output=outputs.__setitem__).measure(sides, parallel=True)
    assert [[item["id"] for item in side] for side in results] == [["tiny", "random_weights"]] * 2
    assert [side[0]["side"] for side in results] == ["base", "head"]
    first = results[0][0]
    assert first["failure"] is None
    assert first["report"] is not None
    assert first["report"]["totals"]["parameters"]["value"] == 4 * 3 + 3
    assert first["report"]["totals"]["operator_macs"]["value"] == 2 * 4 * 3
    assert "::set-output" in outputs["head"]  # it went into a file, not onto our own output


def test_one_targets_death_does_not_stop_the_others(root: Path, tmp_path: Path) -> None:
    results = measured(tmp_path, spec(root, "tiny", "killed", "segfault", "hard_exit", "exits", "random_weights"))
    failures = [result["failure"] and result["failure"]["message"] for result in results]
    assert failures[0] is None
    assert failures[1] is not None
    assert failures[1].startswith("killed by SIGKILL after ")
    assert failures[1].endswith("B of memory, probably out of memory")
    assert failures[2] is not None
    assert failures[2].startswith("killed by SIGSEGV")
    assert failures[3] == "the process ended with exit code 7 before it had a result"
    assert failures[4] == "the code called exit(3)"
    assert failures[5] is None


def test_every_failure_says_stage_class_and_place(root: Path, tmp_path: Path) -> None:
    names = ("broken", "build_error", "number", "no_inputs", "absent", "bench/none.py:x", "long_error", "nope.mod:x")
    results = measured(tmp_path, spec(root, *names))
    failures = {result["id"]: result["failure"] for result in results}
    broken = failures["broken"]
    assert broken is not None
    assert (broken["stage"], broken["type"]) == ("forward", "RuntimeError")
    assert broken["message"] == "shapes do not match in bench/models.py"
    assert broken["frames"] == ['File "bench/models.py", line 19, in forward']
    assert broken.get("calls_done") == 1
    said = {name: f"{failure['stage']}: {failure['message']}" for name, failure in failures.items() if failure}
    assert said["build_error"] == "build: no such size"
    assert said["number"].startswith("build: the factory returned an object of type int: return a torch.nn.Module")
    assert said["no_inputs"].startswith("build: the factory gave no inputs for Linear.forward")
    assert said["absent"].startswith("load: factory 'bench/models.py:absent': bench/models.py has no 'absent'")
    assert len(said["long_error"]) < 600
    assert "there is no module 'nope.mod'" in failures_of(results, "load")
    assert "there is no file 'bench/none.py' in this commit" in failures_of(results, "load")


def failures_of(results: list[TargetResult], stage: str) -> str:
    return "\n".join(r["failure"]["message"] for r in results if r["failure"] and r["failure"]["stage"] == stage)


def test_a_target_that_hangs_is_stopped_and_the_next_one_runs(root: Path, tmp_path: Path) -> None:
    limits = ChildLimits(timeout_seconds=4)
    results = measured(tmp_path, spec(root, "sleeps", "tiny"), limits=limits)
    assert results[0]["failure"] is not None
    assert results[0]["failure"]["message"] == "no result within 4 s, the timeout-seconds of the config"
    assert results[1]["failure"] is None


def test_a_target_above_the_memory_limit_is_stopped(root: Path, tmp_path: Path) -> None:
    limits = ChildLimits(memory_bytes=600 << 20)
    failure = measured(tmp_path, spec(root, "hungry"), limits=limits)[0]["failure"]
    assert failure is not None
    assert failure["type"] == "MemoryLimit"
    assert "memory-limit is 0.6 GiB" in failure["message"]


def test_a_worker_sees_no_credentials_and_none_of_our_dependencies(root: Path, tmp_path: Path) -> None:
    hostile = {
        "GITHUB_TOKEN": "x", "GH_TOKEN": "x", "INPUT_TOKEN": "x", "ACTIONS_RUNTIME_TOKEN": "x", "GITHUB_ENV": "x",
        "GITHUB_OUTPUT": "x", "GITHUB_STEP_SUMMARY": "x", "TORCHSCAN_TOKEN": "x", "HF_TOKEN": "x", "AWS_SECRET": "x",
        "MY_SETTING": "x", "HTTPS_PROXY": "x", "CUDA_VISIBLE_DEVICES": "",
    }  # fmt: skip
    options = {"environ": {**os.environ, **hostile}, "pass_env": ["MY_SETTING"]}
    results = measured(tmp_path, spec(root, "environment", "modules"), **options)
    assert results[0]["failure"] is not None
    assert results[1]["failure"] is not None
    seen = set(results[0]["failure"]["message"].split())
    assert not seen & (set(hostile) - {"MY_SETTING", "HTTPS_PROXY", "CUDA_VISIBLE_DEVICES"})
    assert {"MY_SETTING", "HTTPS_PROXY", "PATH"} <= seen
    assert results[1]["failure"]["message"] == "none"


def test_a_denied_name_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pass-env: 'github_token' is never passed"):
        measurer(tmp_path, pass_env=["github_token"])


def test_equal_code_builds_equal_weights_on_both_sides(root: Path, tmp_path: Path) -> None:
    (root / "bench" / "models.py").write_text(
        dedent("""
        import random, numpy, torch
        def seeded():
            raise RuntimeError(f"{random.random()} {numpy.random.rand()} {torch.rand(1).item()} {hash('a')}")
        def again(): return seeded()
    """)
    )
    sides = [spec(root, "seeded", "again", side=side) for side in ("base", "head")]
    results = measurer(tmp_path).measure(sides, parallel=False)
    messages = {result["failure"]["message"] for side in results for result in side if result["failure"]}
    assert len(messages) == 1


def test_a_path_that_leads_out_of_the_commit_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def f(): return 1\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    results = measured(tmp_path, spec(root, "../outside.py:f", "link.py:f", f"{tmp_path}/outside.py:f"))
    assert [r["failure"]["message"].split(": ")[0] for r in results if r["failure"]] == [
        "'../outside.py' leads out of the repository's folder",
        "'link.py' leads out of the repository's folder",
        f"'{tmp_path}/outside.py' leads out of the repository's folder",
    ]


@pytest.mark.parametrize(
    ("is_in_this_commit", "advice"),
    [(True, "add 'lib' to import-paths"), (False, 'set environment = "separate" and an install command')],
)
def test_a_module_of_the_checkout_on_the_wrong_side_is_an_error_that_says_what_to_set(
    root: Path, tmp_path: Path, is_in_this_commit: bool, advice: str
) -> None:
    checkout = tmp_path / "checkout"
    if is_in_this_commit:
        (root / "lib" / "mypkg").mkdir(parents=True)
        (root / "lib" / "mypkg" / "__init__.py").write_text("SIZE = 5\n")
    (checkout / "lib" / "mypkg").mkdir(parents=True)
    (checkout / "lib" / "mypkg" / "__init__.py").write_text("SIZE = 4\n")
    (root / "bench" / "models.py").write_text(
        dedent(f"""
        import sys, torch
        sys.path.append({str(checkout / "lib")!r})  # as an editable install of the checkout does
        import mypkg
        def uses(): return torch.nn.Linear(mypkg.SIZE, 1), (torch.zeros(1, mypkg.SIZE),)
    """)
    )
    failure = measured(tmp_path, spec(root, "uses", side="base"))[0]["failure"]
    assert failure is not None
    assert failure["stage"] == "isolation"
    told = "base imported mypkg from lib/mypkg/__init__.py of the checkout, not from its own commit: "
    assert failure["message"].startswith(told + advice)


def test_the_worker_itself_may_lie_in_the_checkout(root: Path, tmp_path: Path) -> None:
    # given our own repository, measured by an editable install of it: multiprocessing lists the program twice
    (root / "bench" / "models.py").write_text(
        "import multiprocessing, sys, torch\n"
        "assert sys.modules['__mp_main__'] is sys.modules['__main__']\n"
        "def uses(): return torch.nn.Linear(1, 1), (torch.zeros(1, 1),)\n"
    )
    ours = Path(__file__).resolve().parents[2]
    result = measured(tmp_path, {**spec(root, "uses"), "checkout": str(ours)})[0]
    assert result["failure"] is None


def test_the_commits_own_package_wins_over_an_installed_one(root: Path, tmp_path: Path) -> None:
    installed = tmp_path / "checkout" / "src"
    for folder, size in ((installed, 4), (root / "src", 7)):
        (folder / "mypkg").mkdir(parents=True)
        (folder / "mypkg" / "__init__.py").write_text(f"SIZE = {size}\n")
    (root / "bench" / "models.py").write_text(
        dedent(f"""
        import sys, torch
        sys.path.append({str(installed)!r})
        import mypkg
        def uses(): return torch.nn.Linear(mypkg.SIZE, 1), (torch.zeros(1, mypkg.SIZE),)
    """)
    )
    result = measured(tmp_path, spec(root, "uses", side="base"))[0]
    assert result["failure"] is None
    assert result["report"] is not None
    assert result["report"]["totals"]["parameters"]["value"] == 8


def test_a_torchscan_folder_in_the_repository_does_not_shadow_ours(root: Path, tmp_path: Path) -> None:
    for name in ("torchscan", "ci_action"):
        (root / name).mkdir()
        (root / name / "__init__.py").write_text("raise RuntimeError('shadowed')\n")
    assert measured(tmp_path, spec(root, "tiny"))[0]["failure"] is None


def test_a_model_on_meta_costs_no_memory(root: Path, tmp_path: Path) -> None:
    result = measured(tmp_path, spec(root, "meta", device="meta"))[0]
    assert result["failure"] is None
    assert result["report"] is not None
    assert result["report"]["totals"]["parameters"]["value"] == (1 << 40) + (1 << 20)


def test_analysis_off_loads_and_builds_only(root: Path, tmp_path: Path) -> None:
    result = measured(tmp_path, spec(root, "broken", analysis="off"))[0]
    assert (result["report"], result["failure"]) == (None, None)


def test_an_interpreter_without_torch_gives_one_sentence(root: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    import venv

    venv.create(bare, with_pip=False, symlinks=True)
    with pytest.raises(MeasurementError, match=r"^torch is not installed in .*bare/bin/python \(Python 3\.") as caught:
        measured(tmp_path, spec(root, "tiny", "broken"), python=str(bare / "bin" / "python"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ('[ "$2" = -c ] && echo "3 8 18" || { echo "Unknown option: -P" >&2; exit 2; }', "is Python 3.8.18, and 3.11"),
        ("echo no; exit 1", "is not a working Python"),
    ],
)
def test_an_unfit_interpreter_gives_one_sentence(root: Path, tmp_path: Path, script: str, sentence: str) -> None:
    fake = tmp_path / "fake-python"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    with pytest.raises(MeasurementError, match=sentence):
        measured(tmp_path, spec(root, "tiny"), python=str(fake))


def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="the interpreter 'python4' cannot be found"):
        measurer(tmp_path, python="python4")


def test_results_that_are_not_strict_json_are_refused(root: Path, tmp_path: Path) -> None:
    (root / "bench" / "models.py").write_text(
        dedent("""
        import os, pathlib, sys
        def own_folder():
            side = pathlib.Path(sys.argv[0]).parents[1]
            return max(side.glob("out-*"), key=lambda folder: folder.stat().st_mtime_ns)
        def forged():
            (own_folder() / "result.json").write_text('{"version": NaN, "secret": "s3cret"}')
            os._exit(0)
        def linked():
            (own_folder() / "result.json").symlink_to("/etc/passwd")
            os._exit(0)
    """)
    )
    results = measured(tmp_path, spec(root, "forged", "linked"))
    kinds = [result["failure"]["type"] for result in results if result["failure"]]
    assert kinds == ["MalformedResult", "MalformedResult"]
    assert "s3cret" not in str(results)


def test_nothing_of_a_worker_is_left_behind(root: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    (root / "bench" / "models.py").write_text(
        dedent(f"""
        import subprocess, sys, torch
        def leaves():
            for detached in (False, True):
                sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
                child = subprocess.Popen(sleep, start_new_session=detached)
                open({str(pids)!r}, "a").write(f"{{child.pid}}\\n")
            import time; time.sleep(1)
            return torch.nn.Linear(1, 1), (torch.zeros(1, 1),)
    """)
    )
    assert measured(tmp_path, spec(root, "leaves"))[0]["failure"] is None
    left = [int(pid) for pid in pids.read_text().split()]
    until = time.monotonic() + 5
    while any(map(is_running, left)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in left if is_running(pid)]


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel to end the child with its parent")
def test_a_worker_dies_with_its_orchestrator(root: Path, tmp_path: Path) -> None:
    import subprocess

    pid_file = tmp_path / "pid"
    (root / "bench" / "models.py").write_text(
        f"import os, time\ndef slow():\n    open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n    time.sleep(60)\n"
    )
    script = (
        f"import os, sys; from pathlib import Path; from ci_action.edges.workers.child import ChildMeasurer\n"
        f"ChildMeasurer(python=sys.executable, scratch=Path({str(tmp_path)!r}), environ=os.environ)"
        f".measure([{spec(root, 'slow')!r}], parallel=True)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script])
    until = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    worker = int(pid_file.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while is_running(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(worker)


def test_a_long_measurement_shows_that_it_is_alive(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_action.edges.workers.child.HEARTBEAT_SECONDS", 0.5)
    said: list[str] = []
    measured(tmp_path, spec(root, "tiny"), on_progress=said.append)
    assert "still measuring head tiny" in said


def test_the_probe_of_an_interpreter_runs_nothing_of_the_jobs_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONHOME", str(tmp_path / "nowhere"))
    assert unfit(sys.executable) is None
    assert not (tmp_path / "ran").exists()


def test_a_workers_packages_are_copies(tmp_path: Path) -> None:
    ChildMeasurer(python=sys.executable, scratch=tmp_path, environ=os.environ)
    copied = tmp_path / "packages"
    assert {path.name for path in copied.iterdir()} == {"ci_action", "torchscan"}
    assert [path for path in copied.rglob("*") if path.is_symlink() or path.name == "__pycache__"] == []
    assert (copied / "ci_action" / "worker" / "__main__.py").stat().st_nlink == 1
