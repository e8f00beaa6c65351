from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from torchscan.process import measure_peak_rss

MIB = 2**20
pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="measured on Linux and macOS only")


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_the_peak_is_the_childs() -> None:
    small = measure_peak_rss(python("pass"))
    large = measure_peak_rss(python("kept = bytearray(100 * 2**20)"))
    assert small["scope"] == "child_process_lifetime"
    assert large["peak_bytes"] - small["peak_bytes"] == pytest.approx(100 * MIB, rel=0.1)


def test_a_large_caller_does_not_lend_its_peak_to_the_child() -> None:
    # given a caller of 600 MiB: a child forked straight from it would report 600 MiB
    script = (
        "import sys; from torchscan.measure.rss import measure_peak_rss\n"
        "ballast = bytearray(600 * 2**20)\n"
        "print(measure_peak_rss([sys.executable, '-I', '-S', '-c', 'pass'])['peak_bytes'])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert 0 < int(printed) < 100 * MIB


def test_what_the_environment_loads_into_every_python_is_not_the_childs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a site customization that takes 200 MiB in any interpreter that reads PYTHONPATH
    (tmp_path / "sitecustomize.py").write_text("kept = bytearray(200 * 2**20)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # when the child is no Python, then the launcher's memory is not taken for its
    assert measure_peak_rss(["true"])["peak_bytes"] < 100 * MIB
    # and a child that does read it has it
    assert measure_peak_rss([sys.executable, "-c", "pass"])["peak_bytes"] > 200 * MIB


def test_memory_taken_and_freed_still_is_the_peak() -> None:
    freed = measure_peak_rss(python("kept = bytearray(100 * 2**20); del kept"))
    assert freed["peak_bytes"] > 100 * MIB


@pytest.mark.parametrize(
    ("code", "returncode"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)]
)
def test_a_failing_child_is_an_error_with_its_code(code: str, returncode: int) -> None:
    command = python(code)
    with pytest.raises(subprocess.CalledProcessError) as failure:
        measure_peak_rss(command)
    assert (failure.value.returncode, failure.value.cmd) == (returncode, command)


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        measure_peak_rss(["no-such-program"])


def test_a_file_that_may_not_run_is_a_permission_error(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("text")
    with pytest.raises(PermissionError):
        measure_peak_rss([str(plain)])


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    told = tmp_path / "told"
    words = ["$HOME", "*", "; touch x", ""]
    script = f"import sys; open({str(told)!r}, 'w').write(repr(sys.argv[1:]))"
    measure_peak_rss([*python(script), *words])
    assert told.read_text() == repr(words)


@pytest.mark.parametrize(
    ("command", "error"),
    [("ls", TypeError), ([], ValueError), ([1], TypeError), (["a\0b"], ValueError), (None, TypeError)],
)
def test_a_command_that_is_no_list_of_words_is_refused(command: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="command must"):
        measure_peak_rss(command)


def test_other_platforms_are_refused_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(NotImplementedError, match="Linux and macOS"):
        measure_peak_rss([sys.executable, "-c", f"open({str(tmp_path / 'ran')!r}, 'w')"])
    assert not (tmp_path / "ran").exists()


def test_an_interrupt_ends_the_child(tmp_path: Path) -> None:
    # given a measurement that is interrupted while its child sleeps
    told = tmp_path / "pid"
    script = """
import os, signal, sys, threading, time
from torchscan.measure.rss import measure_peak_rss

sleeper = 'import os, sys, time; print(os.getpid(), file=open(sys.argv[1], "w")); time.sleep(60)'

def interrupt_once_it_sleeps():
    while not (os.path.exists(sys.argv[1]) and open(sys.argv[1]).read().endswith("\\n")):
        time.sleep(0.05)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

threading.Thread(target=interrupt_once_it_sleeps).start()
try:
    measure_peak_rss([sys.executable, "-c", sleeper, sys.argv[1]])
except KeyboardInterrupt:
    try:
        os.kill(int(open(sys.argv[1]).read()), 0)
    except ProcessLookupError:
        print("gone")
"""
    command = [sys.executable, "-c", script, str(told)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.stdout.strip() == "gone", done.stderr
