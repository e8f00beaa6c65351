"""Whose code ran: what was installed from the checkout is head's code, what came from elsewhere is the environment."""

from __future__ import annotations

import json
import subprocess
import sys
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
# a file of some length, so that no two are equal by accident
WIDTH = {width}
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

    def faults(self, side: str, *modules: str, startup: str = "", import_paths: tuple[str, ...] = ("src", ".")) -> str:
        """Import modules as a worker does, in a process whose interpreter has ``site``, and return the first fault."""
        given = [str(self.worktree), str(self.worktree), str(self.checkout), list(import_paths), side]
        script = f"""
import sys
sys.path.append({str(self.site)!r})
{startup}
from pathlib import Path
from ci_action.worker.isolation import foreign_modules
from ci_action.worker.load import prepend_import_paths
root, worktree, checkout, import_paths, side = {given!r}
prepend_import_paths(Path(root), import_paths)
for name in {list(modules or ("mypkg.net",))!r}:
    __import__(name)
print(*foreign_modules(Path(root), Path(worktree), Path(checkout), import_paths, side), sep="\\n")
"""
        command = [sys.executable, "-P", "-c", script]
        done = subprocess.run(command, cwd=self.worktree, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return done.stdout.partition("\n")[0]

    def measure(self, side: str) -> TargetResult:
        """Measure ``bench/models.py:net`` in a real worker, whose code adds ``site`` as an interpreter would."""
        one = spec(self.worktree, "net", side=side)
        return measured(self.tmp, {**one, "checkout": str(self.checkout)})[0]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    for folder in (found.worktree, found.checkout):
        put(folder, {"readme": "x"})
    return found


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
    told = place.faults("base")
    assert told.startswith("imported mypkg from site-packages/mypkg/__init__.py, which ")
    assert told.endswith(f"not from its own commit: add {folder!r} to import-paths")
    assert not place.faults("base", import_paths=("src", ".", folder))


@pytest.mark.parametrize("source", SOURCES)
def test_head_is_measured_with_an_installed_copy_of_itself(place: Place, source: str) -> None:
    for folder in (place.worktree, place.checkout):
        put(folder, in_python(CHANGED))
    install(place.site, CHANGED, source=SOURCES[source](place))
    assert not place.faults("head")


def test_line_endings_and_generated_files_make_no_installed_copy_foreign_on_head(place: Place) -> None:
    init = {"mypkg/__init__.py": "from mypkg._version import VERSION\n"}
    for folder in (place.worktree, place.checkout):
        put(folder, in_python({**CHANGED, **init}))
    crlf = {name: text.replace("\n", "\r\n") for name, text in {**CHANGED, **init}.items()}
    install(place.site, {**crlf, "mypkg/_version.py": "VERSION = '1'\n"}, source=of_folder(place.checkout))
    assert not place.faults("head")


def test_an_installed_copy_that_is_stale_is_not_heads_code(place: Place) -> None:
    for folder in (place.worktree, place.checkout):
        put(folder, in_python(CHANGED))
    install(place.site, PACKAGE, source=of_folder(place.checkout))
    assert place.faults("head") == (
        "imported mypkg.net from site-packages/mypkg/net.py, which was installed from the checkout and differs from "
        "python/mypkg/net.py of its own commit: install the package after the commit is checked out, "
        "or add 'python' to import-paths"
    )


def test_an_optional_package_that_only_head_has_is_not_bases(place: Place) -> None:
    new = {"mypkg/__init__.py": "", "mypkg/extra.py": NET.format(width=9)}
    put(place.checkout, in_python(new))
    install(place.site, new, source=of_folder(place.checkout))
    told = place.faults("base", "mypkg.extra")
    assert told.startswith("imported mypkg from site-packages/mypkg/__init__.py")
    assert told.endswith(SEPARATE)


def test_a_package_new_on_head_is_found_without_the_installers_word(place: Place) -> None:
    new = {"fresh/__init__.py": "", "fresh/extra.py": NET.format(width=9)}
    put(place.checkout, in_python(new))
    put(place.site, new)  # copied there by hand
    assert place.faults("base", "fresh.extra").startswith("imported fresh from")
    assert not place.faults("head", "json")


def test_a_generated_module_of_the_checkout_is_its_code_too(place: Place) -> None:
    put(place.checkout, in_python(CHANGED))
    install(place.site, {**CHANGED, "mypkg/net_pb2.py": "A = 1\n"}, source=of_folder(place.checkout))
    assert place.faults("base", "mypkg.net_pb2").startswith("imported mypkg from")
    assert not place.faults("head", "mypkg.net_pb2")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux tells which libraries are loaded")
def test_a_library_that_no_module_stands_for_is_seen(place: Place) -> None:
    put(place.worktree, {"mypkg/__init__.py": ""})
    install(place.site, {"mypkg/_C.so": "not really"}, source=of_folder(place.checkout))
    library = str(place.site / "mypkg" / "_C.so")
    held = f"import mmap; file = open({library!r}, 'rb'); held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)"
    told = place.faults("base", "mypkg", startup=held)
    assert told == (
        "imported _C.so from site-packages/mypkg/_C.so, which was installed from the checkout, "
        f"not from its own commit: {SEPARATE}"
    )
    assert not place.faults("head", "mypkg", startup=held)


def test_a_namespace_is_shared_with_others(place: Place) -> None:
    net = {"acme/net/__init__.py": "", "acme/net/model.py": NET.format(width=8)}
    put(place.checkout, in_python(net))
    put(place.worktree, in_python({**net, "acme/net/model.py": NET.format(width=4)}))
    install(place.site, net, source=of_folder(place.checkout))
    install(place.site, {"acme/tools/__init__.py": "SIZE = 1\n"}, name="acme-tools")
    assert "add 'python' to import-paths" in place.faults("base", "acme.net.model")
    assert not place.faults("base", "acme.tools")


def test_a_zip_of_the_checkouts_code_is_its_code(place: Place) -> None:
    put(place.worktree, in_python(PACKAGE))
    put(place.checkout, in_python(CHANGED))
    egg = place.tmp / "mypkg-1.0.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for name, text in CHANGED.items():
            archive.writestr(name, text)
    startup = f"import sys; sys.path.append({str(egg)!r})"
    assert place.faults("base", startup=startup).startswith("imported mypkg.net from mypkg-1.0.egg/mypkg/net.py")


def test_an_editable_install_gives_head_its_own_code_and_base_none(place: Place) -> None:
    put(place.worktree, in_python(CHANGED))
    put(place.checkout, in_python(CHANGED))
    finder = {"__editable___mypkg_1_0_finder.py": "", "__editable__.mypkg-1.0.pth": str(place.checkout / "python")}
    install(place.site, finder, source=of_folder(place.checkout, editable=True))
    startup = f"import site; site.addsitedir({str(place.site)!r}); import __editable___mypkg_1_0_finder"
    assert not place.faults("head", startup=startup)
    assert "from python/mypkg/__init__.py of the checkout" in place.faults("base", startup=startup)
    assert not place.faults("base", "json", startup=startup)  # the finder is no code


@pytest.mark.parametrize("is_named", [True, False])
def test_a_side_with_an_environment_of_its_own_runs_its_own_code(place: Place, is_named: bool) -> None:
    helper = {"mypkg/helper.py": NET.format(width=1)}  # equal on both sides
    put(place.worktree, in_python({**PACKAGE, **helper}))
    put(place.checkout, in_python({**CHANGED, **helper}))
    built = {**PACKAGE, **helper, "mypkg/_version.py": "A = 1\n"}
    install(place.site, built, source=of_folder(place.worktree) if is_named else None)
    assert not place.faults("base", "mypkg.net", "mypkg.helper", "mypkg._version")


def test_the_output_check_of_base_is_bases(place: Place) -> None:
    from ci_action.worker.outputs import write_outputs  # torch takes its time, and no other test here needs it

    passes = {"mypkg/__init__.py": "", "mypkg/checks.py": "def same(base, head):\n    return True\n"}
    put(place.checkout, in_python(passes))
    install(place.site, passes, source=of_folder(place.checkout))
    put(
        place.worktree,
        {"checks.py": f"import sys\nsys.path.append({str(place.site)!r})\nfrom mypkg.checks import same\n"},
    )
    for side in ("base", "head"):
        write_outputs(1.0, place.tmp / side)
    spec = {
        "root": str(place.worktree),
        "worktree": str(place.worktree),
        "checkout": str(place.checkout),
        "base_outputs": str(place.tmp / "base"),
        "head_outputs": str(place.tmp / "head"),
        "import_paths": ["."],
        "callable": "checks.py:same",
        "rtol": 0,
        "atol": 0,
    }
    (place.tmp / "spec.json").write_text(json.dumps(spec))
    arguments = [str(place.tmp / "spec.json"), str(place.tmp / "out.json")]
    subprocess.run([sys.executable, "-P", "-m", "ci_action.worker.check", *arguments], check=True, timeout=100)
    verdict = json.loads((place.tmp / "out.json").read_text())
    assert verdict["verdict"] == "failed"
    assert verdict["message"].startswith("the check of base imported mypkg from site-packages/mypkg/__init__.py")


def test_a_module_that_was_taken_away_again_is_seen(place: Place) -> None:
    install(place.site, CHANGED, source=of_folder(place.checkout))
    hides = {"hides.py": "import mypkg, mypkg.net as net\nnet.__file__ = mypkg.__file__ = None\n"}
    put(place.worktree, hides)
    assert place.faults("base", "hides").startswith("imported mypkg")


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
    put(place.worktree, own)
    put(place.checkout, checkout)
    install(place.site, installed, name="theirs")
    startup = f"sys.path.append({str(place.checkout / '.venv/lib/site-packages')!r})"
    preload = "\nimport theirs" if "theirs.py" in own else ""  # an import path comes first otherwise
    assert not place.faults(side, "theirs", startup=startup + preload)


def test_a_module_that_hides_what_the_pull_request_changes_is_named(place: Place) -> None:
    put(place.worktree, {"theirs.py": "C = 1\n"})
    put(place.checkout, {"theirs.py": "C = 2\n"})
    install(place.site, {"theirs.py": "A = 1\n"}, name="theirs")
    told = place.faults("base", "theirs", startup="import theirs")
    assert told.endswith("which has a module of that name: rename it, or uninstall the other")


def test_a_release_of_the_repositorys_own_package_does_not_stand_in_for_a_change(place: Place) -> None:
    project = {"pyproject.toml": '[project]\nname = "My.Pkg"\n'}
    put(place.worktree, {**project, **in_python(PACKAGE)})
    put(place.checkout, {**project, **in_python(CHANGED)})
    released = {"mypkg/__init__.py": "", "mypkg/net.py": NET.format(width=2)}
    install(place.site, released, name="my_pkg")
    assert "add 'python' to import-paths" in place.faults("base")


def test_packages_of_pip_install_target_are_the_environment(place: Place) -> None:
    install(place.checkout / "deps", {"theirs/__init__.py": "A = 1\n"}, name="theirs")
    assert not place.faults("base", "theirs", startup=f"sys.path.append({str(place.checkout / 'deps')!r})")


def test_a_module_that_a_call_loads_late_is_seen_by_a_real_worker(place: Place) -> None:
    put(place.checkout, in_python(CHANGED))
    install(place.site, CHANGED, source=of_folder(place.checkout))
    late = f"""
import sys, torch
sys.path.append({str(place.site)!r})
class Net(torch.nn.Linear):
    def forward(self, x):
        import mypkg.net
        return x
def net():
    return Net(1, 1), (torch.zeros(1, 1),)
"""
    put(place.worktree, {"bench/models.py": late})
    failure = place.measure("base")["failure"]
    assert failure is not None
    assert (failure["stage"], failure["message"][:31]) == ("isolation", "base imported mypkg from site-p")
    assert place.measure("head")["failure"] is None
