"""An exception as a value: the owner's own frames, and why an import found nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.installs import put

from ci_action.core.spec import Failure
from ci_action.worker.failure import describe

SEPARATE = 'set environment = "separate" and an install command, so that each side makes its own'


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worktree, a checkout and a site-packages; the worktree is the working folder, as in a worker."""
    for name in ("root", "checkout", "site-packages"):
        put(tmp_path / name, {"readme": "x"})
    monkeypatch.chdir(tmp_path / "root")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "root"), *sys.path, str(tmp_path / "site-packages")])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def failed(sides: Path, code: str, name: str = "<string>") -> Failure:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 # whatever the code raises
        exec(compile(code, "x", "exec").replace(co_filename=name), {})
    return describe(caught.value, "load", (sides / "root").resolve(), sides / "checkout")


@pytest.mark.parametrize(
    "name",
    [
        "<string>",
        "<frozen importlib._bootstrap>",
        "<eval_with_key>.5",
        "gone.py",
        "a\0b.py",
    ],
)
def test_what_is_no_file_of_the_owner_is_no_frame_of_theirs(sides: Path, name: str) -> None:
    put(sides / "root", {"net.py": "import json.nothing_there\n"})
    frames = failed(sides, "import net", name)["frames"]
    assert frames == ['File "net.py", line 1, in <module>']


def test_a_file_that_was_compiled_by_a_relative_name_is_the_owners(sides: Path) -> None:
    put(sides / "root", {"lib/net.py": "x"})
    assert failed(sides, "1 / 0", "lib/net.py")["frames"] == ['File "lib/net.py", line 1, in <module>']


@pytest.mark.parametrize(
    ("package", "made", "name"),
    [
        ("from mypkg._version import version\n", "_version.py", "mypkg._version"),
        ("from mypkg import _C\n", "_C.cpython-399-x86_64-linux-gnu.so", "mypkg._C"),
        ("from . import _C\n", "_C.so", "mypkg._C"),
        ("import mypkg.net_pb2\n", "net_pb2.py", "mypkg.net_pb2"),
        ("import mypkg.native\n", "native/__init__.py", "mypkg.native"),
        (
            "try:\n    from . import _C\nexcept ImportError as e:\n    raise RuntimeError('build it') from e\n",
            "_C.so",
            "mypkg._C",
        ),
    ],
)
@pytest.mark.parametrize("folder", ["", "src/", "python/"])
def test_a_file_that_only_the_checkout_has_is_named(
    sides: Path, monkeypatch: pytest.MonkeyPatch, package: str, made: str, name: str, folder: str
) -> None:
    monkeypatch.setattr(sys, "path", [str(sides / "root" / folder), *sys.path])
    put(sides / "root", {f"{folder}mypkg/__init__.py": package})
    put(sides / "checkout", {f"{folder}mypkg/__init__.py": package, f"{folder}mypkg/{made}": "x = 1\n"})
    message = failed(sides, "import mypkg")["message"]
    assert message.endswith(
        f"; {name} is missing. The checkout has {folder}mypkg/{made}, which is no part of the commit: "
        f"git ignores it, or an install generates it; {SEPARATE}"
    )


def test_a_file_that_an_install_made_is_named(sides: Path) -> None:
    put(sides / "root", {"mypkg/__init__.py": "import mypkg._version\n"})
    put(sides / "site-packages", {"mypkg/__init__.py": "", "mypkg/_version.py": ""})
    message = failed(sides, "import mypkg")["message"]
    assert "mypkg._version is missing. site-packages/mypkg/_version.py is installed, which is no part" in message
    assert message.endswith(SEPARATE)


def test_a_package_that_this_commit_keeps_elsewhere_is_an_import_path(sides: Path) -> None:
    put(sides / "root", {"python/mypkg/__init__.py": ""})
    message = failed(sides, "import mypkg.net")["message"]
    told = "mypkg is missing, and this commit has it in 'python': add that folder to import-paths"
    assert message == f"No module named 'mypkg'; {told}"


@pytest.mark.parametrize(
    "code", ["import timm_that_nobody_has", "from json import nothing", "raise ImportError('x')", "1 / 0"]
)
def test_what_lies_nowhere_is_not_explained(sides: Path, code: str) -> None:
    assert ";" not in failed(sides, code)["message"]
