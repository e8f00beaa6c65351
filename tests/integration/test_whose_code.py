"""Whose code ran: what was installed from the checkout is head's code, what came from elsewhere is the environment."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.installs import install, of_folder, of_git, of_wheel, put
from support.measuring import measured, spec

from ci_action.core.spec import TargetResult

NET = """
import torch
# a file of some length, so that no two are equal by accident
def net():
    return torch.nn.Linear({width}, 1), (torch.zeros(1, {width}),)
"""
PACKAGE = {"mypkg/__init__.py": "", "mypkg/net.py": NET.format(width=4)}
CHANGED = {"mypkg/__init__.py": "", "mypkg/net.py": NET.format(width=8)}
SEPARATE = 'set environment = "separate" and an install command, so that each side has its own'


@dataclass(frozen=True)
class Place:
    """A worktree, the checkout beside it, and the site-packages of an environment."""

    tmp: Path

    @property
    def worktree(self) -> Path:
        return self.tmp / "repo"

    @property
    def checkout(self) -> Path:
        return self.tmp / "checkout"

    @property
    def site(self) -> Path:
        return self.tmp / "env" / "site-packages"

    def measure(self, side: str, factory: str = "mypkg.net:net", **options: Any) -> TargetResult:
        """Measure in a worker that has ``site`` on its path as every interpreter has its own."""
        (self.tmp / "start").mkdir(exist_ok=True)
        python = self.tmp / "python"
        startup = f"import sys; sys.path.append({str(self.site)!r})"
        (self.tmp / "start" / "sitecustomize.py").write_text(options.pop("startup", startup))
        python.write_text(
            f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{self.tmp / "start"}" exec {json.dumps(__import__("sys").executable)} "$@"\n'
        )
        python.chmod(0o755)
        one = spec(self.worktree, factory, side=side)
        one["checkout"] = str(self.checkout)
        one["import_paths"] = options.pop("import_paths", ["src", "."])
        return measured(self.tmp, one, python=str(python))[0]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    for folder in (found.worktree, found.checkout):
        put(folder, {"readme": "x"})
    return found


def fault(result: TargetResult) -> str:
    failure = result["failure"]
    assert failure is not None, "it was measured"
    assert failure["stage"] == "isolation", failure
    return failure["message"]


def in_python(files: dict[str, str], folder: str = "python") -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


SOURCES: dict[str, Callable[[Place], dict[str, Any] | None]] = {
    "folder": lambda place: of_folder(place.checkout),
    "project below": lambda place: of_folder(place.checkout / "packages" / "core"),
    "wheel in dist": lambda place: of_wheel(place.checkout / "dist" / "mypkg-1.0-py3-none-any.whl"),
    "wheel elsewhere": lambda place: of_wheel(place.tmp / "mypkg-1.0-py3-none-any.whl"),
    "git": lambda place: of_git(place.checkout),
    "find-links": lambda _: None,
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("folder", ["python", "packages/core", "lib"])
def test_base_is_not_measured_with_the_code_that_was_installed_from_the_checkout(
    place: Place, source: str, folder: str
) -> None:
    put(place.worktree, in_python(PACKAGE, folder))
    put(place.checkout, in_python(CHANGED, folder))
    install(place.site, CHANGED, source=SOURCES[source](place))
    told = fault(place.measure("base"))
    assert told.startswith("base imported mypkg")
    assert f"add {folder!r} to import-paths" in told
    measured_again = place.measure("base", import_paths=["src", ".", folder])
    assert measured_again["report"] is not None
    assert measured_again["report"]["totals"]["parameters"]["value"] == 5


@pytest.mark.parametrize("source", SOURCES)
def test_head_is_measured_with_an_installed_copy_of_itself(place: Place, source: str) -> None:
    for folder in (place.worktree, place.checkout):
        put(folder, in_python(CHANGED))
    install(place.site, CHANGED, source=SOURCES[source](place))
    assert place.measure("head")["failure"] is None


def test_line_endings_and_generated_files_make_no_installed_copy_foreign_on_head(place: Place) -> None:
    put(place.worktree, in_python(CHANGED))
    put(place.checkout, in_python(CHANGED))
    crlf = {name: text.replace("\n", "\r\n") for name, text in CHANGED.items()}
    version = {"mypkg/_version.py": "VERSION = '1'\n", "mypkg/__init__.py": "from mypkg._version import VERSION\n"}
    put(place.worktree, in_python({"mypkg/__init__.py": version["mypkg/__init__.py"]}))
    install(place.site, {**crlf, **version}, source=of_folder(place.checkout))
    assert place.measure("head")["failure"] is None


def test_an_installed_copy_that_is_stale_is_not_heads_code(place: Place) -> None:
    for folder in (place.worktree, place.checkout):
        put(folder, in_python(CHANGED))
    install(place.site, PACKAGE, source=of_folder(place.checkout))
    told = fault(place.measure("head"))
    assert told.startswith(
        "head imported mypkg.net from site-packages/mypkg/net.py, which was installed from the checkout, which differs "
        "from python/mypkg/net.py of its own commit: install the package after the commit is checked out, or add "
    )


def test_an_optional_package_that_only_head_has_is_not_bases(place: Place) -> None:
    optional = "try:\n    import mypkg.extra\nexcept ImportError:\n    pass\n"
    uses = {"bench/models.py": f"{optional}{NET.format(width=3)}"}
    for folder in (place.worktree, place.checkout):
        put(folder, uses)
    new = {"mypkg/__init__.py": "", "mypkg/extra.py": NET.format(width=9)}
    put(place.checkout, in_python(new))
    install(place.site, new, source=of_folder(place.checkout))
    told = fault(place.measure("base", "bench/models.py:net"))
    assert told.startswith("base imported mypkg from site-packages/mypkg/__init__.py")
    assert told.partition(";")[0].endswith(SEPARATE)


def test_a_package_new_on_head_is_found_without_the_installers_word(place: Place) -> None:
    put(place.worktree, {"bench/models.py": f"import fresh.extra\n{NET.format(width=3)}"})
    new = {"fresh/__init__.py": "", "fresh/extra.py": NET.format(width=9)}
    put(place.checkout, in_python(new))
    put(place.site, new)  # copied there by hand
    assert "base imported fresh" in fault(place.measure("base", "bench/models.py:net"))


@pytest.mark.parametrize("name", ["_C.so", "mypkg_pb2.py"])
def test_what_is_generated_from_the_checkout_is_its_code_too(place: Place, name: str) -> None:
    files = {**CHANGED, f"mypkg/{name}": "" if name.endswith("py") else "not really"}
    models = f"import importlib.util, mypkg\n{NET.format(width=3)}"
    if name.endswith("py"):
        models = f"import mypkg.mypkg_pb2\n{models}"
    else:  # a library of torch.ops.load_library is no module, and no loader names it
        models = f"import mmap\nlib = open({str(place.site / 'mypkg/_C.so')!r}, 'rb')\nheld = mmap.mmap(lib.fileno(), 0, prot=mmap.PROT_READ)\n{NET.format(width=3)}"
    put(place.worktree, {"bench/models.py": models})
    put(place.checkout, in_python(CHANGED))
    install(place.site, files, source=of_folder(place.checkout))
    told = fault(place.measure("base", "bench/models.py:net"))
    assert name.removesuffix(".py") in told or "imported mypkg from" in told
    assert place.measure("head", "bench/models.py:net")["failure"] is None


def test_a_namespace_is_shared_with_others(place: Place) -> None:
    net = {"acme/net/__init__.py": "", "acme/net/model.py": NET.format(width=8)}
    put(place.checkout, in_python(net))
    put(place.worktree, in_python({**net, "acme/net/model.py": NET.format(width=4)}))
    install(place.site, net, source=of_folder(place.checkout))
    install(place.site, {"acme/tools/__init__.py": "SIZE = 1\n"}, name="acme-tools")
    assert "add 'python' to import-paths" in fault(place.measure("base", "acme.net.model:net"))
    put(place.worktree, {"bench/models.py": f"import acme.tools\n{NET.format(width=3)}"})
    assert place.measure("base", "bench/models.py:net")["failure"] is None


def test_a_zip_of_the_checkouts_code_is_its_code(place: Place) -> None:
    put(place.worktree, in_python(PACKAGE))
    put(place.checkout, in_python(CHANGED))
    egg = place.site / "mypkg-1.0.egg"
    egg.parent.mkdir(parents=True)
    with zipfile.ZipFile(egg, "w") as archive:
        for name, text in CHANGED.items():
            archive.writestr(name, text)
    told = fault(place.measure("base", startup=f"import sys; sys.path.append({str(egg)!r})"))
    assert told.startswith("base imported mypkg")


def test_an_editable_install_gives_head_its_own_code_and_base_none(place: Place) -> None:
    put(place.worktree, in_python(CHANGED))
    put(place.checkout, in_python(CHANGED))
    finder = {"__editable___mypkg_1_0_finder.py": "", "__editable__.mypkg-1.0.pth": str(place.checkout / "python")}
    install(place.site, finder, source=of_folder(place.checkout, editable=True))
    startup = f"import site; site.addsitedir({str(place.site)!r}); import __editable___mypkg_1_0_finder"
    assert place.measure("head", startup=startup)["failure"] is None
    assert "python/mypkg/__init__.py of the checkout" in fault(place.measure("base", startup=startup))
    put(place.worktree, {"bench/models.py": NET.format(width=3)})
    assert place.measure("base", "bench/models.py:net", startup=startup)["failure"] is None  # the finder is no code


def test_a_module_that_a_call_loads_late_is_seen(place: Place) -> None:
    put(place.checkout, in_python(CHANGED))
    install(place.site, CHANGED, source=of_folder(place.checkout))
    late = "import torch\nclass Net(torch.nn.Linear):\n    def forward(self, x):\n        import mypkg.net\n        return x\n"
    put(place.worktree, {"bench/models.py": f"{late}def net():\n    return Net(1, 1), (torch.zeros(1, 1),)\n"})
    assert "base imported mypkg" in fault(place.measure("base", "bench/models.py:net"))


@pytest.mark.parametrize("side", ["base", "head"])
@pytest.mark.parametrize(
    ("own", "checkout", "installed"),
    [
        pytest.param({}, {}, {"theirs/__init__.py": "A = 1\n"}, id="nothing alike"),
        pytest.param(
            {"docs/theirs/__init__.py": "B = 1\n" * 9},
            {"docs/theirs/__init__.py": "B = 2\n" * 9},
            {"theirs/__init__.py": "A = 1\n"},
            id="a name by accident",
        ),
        pytest.param(
            {"third_party/theirs/__init__.py": "A = 1\n" * 9},
            {"third_party/theirs/__init__.py": "A = 1\n" * 9},
            {"theirs/__init__.py": "A = 1\n" * 9},
            id="a vendored copy",
        ),
        pytest.param(
            {"theirs.py": "C = 1\n"}, {"theirs.py": "C = 1\n"}, {"theirs.py": "A = 1\n"}, id="a name on the import path"
        ),
        pytest.param(
            {}, {".venv/lib/site-packages/theirs/__init__.py": "A = 1\n" * 9}, {}, id="a venv in the checkout"
        ),
    ],
)
def test_third_party_code_is_the_environment(
    place: Place, side: str, own: dict[str, str], checkout: dict[str, str], installed: dict[str, str]
) -> None:
    put(place.worktree, {**own, "bench/models.py": f"import theirs\n{NET.format(width=3)}"})
    put(place.checkout, checkout)
    install(place.site, installed, name="theirs")
    preload = "; import theirs" if "theirs.py" in own else ""  # an import path comes first otherwise
    folders = [str(place.site), str(place.checkout / ".venv/lib/site-packages")]
    startup = f"import sys; sys.path += {folders!r}{preload}"
    assert place.measure(side, "bench/models.py:net", startup=startup)["failure"] is None


def test_a_module_that_hides_what_the_pull_request_changes_is_named(place: Place) -> None:
    put(place.worktree, {"theirs.py": "C = 1\n", "bench/models.py": f"import theirs\n{NET.format(width=3)}"})
    put(place.checkout, {"theirs.py": "C = 2\n"})
    install(place.site, {"theirs.py": "A = 1\n"}, name="theirs")
    startup = f"import sys; sys.path.append({str(place.site)!r}); import theirs"
    told = fault(place.measure("base", "bench/models.py:net", startup=startup))
    assert told.endswith("which has a module of that name: rename it, or uninstall the other")


def test_a_release_of_the_repositorys_own_package_does_not_stand_in_for_a_change(place: Place) -> None:
    project = {"pyproject.toml": '[project]\nname = "My.Pkg"\n'}
    put(place.worktree, {**project, **in_python(PACKAGE)})
    put(place.checkout, {**project, **in_python(CHANGED)})
    released = {"mypkg/__init__.py": "", "mypkg/net.py": NET.format(width=2)}
    install(place.site, released, name="my_pkg")
    assert "add 'python' to import-paths" in fault(place.measure("base"))


def test_packages_of_pip_install_target_are_the_environment(place: Place) -> None:
    put(place.worktree, {"bench/models.py": f"import theirs\n{NET.format(width=3)}"})
    install(place.checkout / "deps", {"theirs/__init__.py": "A = 1\n"}, name="theirs")
    startup = f"import sys; sys.path.append({str(place.checkout / 'deps')!r})"
    assert place.measure("base", "bench/models.py:net", startup=startup)["failure"] is None
