"""From the config's words to a callable, or to one sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_action.worker.load import FactoryError, load_factory, prepend_import_paths


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "models.py").write_text("class Zoo:\n    def net():\n        return 'net'\nsize = 3\n")
    (tmp_path / "src" / "pkg").mkdir(parents=True)
    (tmp_path / "src" / "pkg" / "__init__.py").write_text("")
    (tmp_path / "src" / "pkg" / "layers.py").write_text("WIDTH = 4\n")
    (tmp_path / "src" / "pkg" / "models.py").write_text("from .layers import WIDTH\ndef net(): return WIDTH\n")
    (tmp_path / "broken.py").write_text("import not_installed_anywhere\ndef net(): ...\n")
    return tmp_path


def test_a_file_and_a_dotted_name_in_it(root: Path) -> None:
    assert load_factory("bench/models.py:Zoo.net", root)() == "net"


def test_a_file_is_imported_once(root: Path) -> None:
    assert load_factory("bench/models.py:Zoo", root) is load_factory("bench/models.py:Zoo", root)


def test_a_file_of_a_package_may_import_relatively(root: Path) -> None:
    prepend_import_paths(root, ["src", ".", "absent"])
    assert load_factory("src/pkg/models.py:net", root)() == 4


def test_a_module_is_found_in_the_import_paths(root: Path) -> None:
    prepend_import_paths(root, ["src", "."])
    assert load_factory("pkg.models:net", root)() == 4
    assert sys.path[:2] == [str((root / "src").resolve()), str(root.resolve())]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("models.py", "must read 'path/to/file.py:name'"),
        (":net", "must read"),
        ("bench/none.py:net", "there is no file 'bench/none.py' in this commit"),
        ("bench/models.py:Zo", "bench/models.py has no 'Zo'; did you mean 'Zoo'?"),
        ("bench/models.py:size", "is of type int: a callable is needed"),
        ("nope.models:net", "there is no module 'nope.models': give a path like"),
        ("../x.py:net", "leads out of the repository's folder"),
        ("/etc/x.py:net", "leads out of the repository's folder"),
    ],
)
def test_a_wrong_reference_is_one_sentence(root: Path, reference: str, said: str) -> None:
    with pytest.raises(FactoryError) as caught:
        load_factory(reference, root)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_of_the_code_itself_is_not_ours_to_rephrase(root: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        load_factory("broken.py:net", root)


def test_an_import_path_that_leads_out_is_refused(root: Path) -> None:
    (root / "link").symlink_to(root.parent, target_is_directory=True)
    for path in ("..", "link"):
        with pytest.raises(FactoryError, match="leads out"):
            prepend_import_paths(root, [path])
