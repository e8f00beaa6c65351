"""Submodules and LFS objects of a worktree: only where asked for, and without a foothold for anybody's code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.git_repositories import Repo, make_repo

from ci_action.edges.git.repository import GitRepository
from ci_action.errors import GitError

STAND_IN = """#!/bin/sh
# git-lfs as far as a pull goes: it leaves the pointers where the config has no clean filter.
[ "$1" = pull ] || exit 2
[ -n "$(git config filter.lfs.clean)" ] || exit 0
[ -z "$(git config lfs.standalonetransferagent)" ] || exit 3
[ -z "$(git config lfs.customtransfer.mine.path)" ] || exit 3
[ -e "$LFS_STORE" ] || { echo "batch response: Repository not found" >&2; exit 2; }
cp "$LFS_STORE" weights.bin
"""
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n"


@pytest.fixture(autouse=True)
def submodules_over_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The user's own config, which is the only place that lets a submodule come from a file."""
    user = tmp_path / "gitconfig"
    user.write_text('[protocol "file"]\n\tallow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with the submodule ``vendored``, which has ``deep`` in turn; neither is initialised."""
    deep, inner = make_repo(tmp_path / "deep"), make_repo(tmp_path / "inner")
    deep.commit({"deep.py": "depth = 2\n"})
    inner.git("submodule", "--quiet", "add", f"file://{deep.path}", "deep")
    inner.commit({"inner.py": "depth = 1\n"})
    made = make_repo(tmp_path / "repo")
    made.git("submodule", "--quiet", "add", f"file://{inner.path}", "vendored")
    made.git("submodule", "--quiet", "deinit", "--force", "vendored")
    made.commit({"weights.bin": POINTER})
    return made


def opened(repo: Repo, tmp_path: Path) -> GitRepository:
    return GitRepository(repo.path, scratch=tmp_path / "scratch")


def sentinel_script(tmp_path: Path) -> tuple[Path, Path]:
    sentinel, script = tmp_path / "pwned", tmp_path / "run-me.sh"
    script.write_text(f"#!/bin/sh\necho x >> {sentinel}\n")
    script.chmod(0o755)
    return sentinel, script


def install_lfs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put the stand-in on PATH; returns where it looks for the object."""
    program = tmp_path / "bin" / "git-lfs"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LFS_STORE", str(tmp_path / "object"))
    return tmp_path / "object"


def test_without_the_keys_folders_stay_empty_and_pointers_stay(repo: Repo, tmp_path: Path) -> None:
    with opened(repo, tmp_path).worktree(repo.state()[0], "base") as path:
        assert list((path / "vendored").iterdir()) == []
        assert (path / "weights.bin").read_text() == POINTER


def test_submodules_are_there_nested_ones_too_and_the_workspace_is_untouched(repo: Repo, tmp_path: Path) -> None:
    before = repo.state(), (repo.path / ".git" / "config").read_text(), list((repo.path / "vendored").iterdir())
    git = opened(repo, tmp_path)
    with git.worktree(before[0][0], "base", submodules=True) as one, git.worktree(before[0][0], "head") as other:
        assert (one / "vendored" / "inner.py").read_text() == "depth = 1\n"
        assert (one / "vendored" / "deep" / "deep.py").read_text() == "depth = 2\n"
        assert list((other / "vendored").iterdir()) == []
    assert not one.exists()
    after = repo.state(), (repo.path / ".git" / "config").read_text(), list((repo.path / "vendored").iterdir())
    assert after == before


def test_a_working_tree_that_was_captured_has_its_submodules(repo: Repo, tmp_path: Path) -> None:
    repo.git("submodule", "--quiet", "update", "--init")
    (repo.path / "edited.py").write_text("edited = True\n")
    before = repo.state()
    git = opened(repo, tmp_path)
    with git.worktree(git.snapshot(), "head", submodules=True) as path:
        assert (path / "edited.py").exists()
        assert (path / "vendored" / "deep" / "deep.py").read_text() == "depth = 2\n"
    assert repo.state() == before
    assert (repo.path / "vendored" / "inner.py").exists()


@pytest.mark.parametrize("submodules", [False, True])
def test_a_gitlink_that_no_entry_explains_is_an_empty_folder(repo: Repo, tmp_path: Path, submodules: bool) -> None:
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.state()[0]},orphan")
    repo.git("commit", "--quiet", "-m", "orphan")
    before = repo.state()
    with opened(repo, tmp_path).worktree(before[0], "head", submodules=submodules) as path:
        assert list((path / "orphan").iterdir()) == []
        assert (path / "vendored" / "inner.py").exists() is submodules
    assert repo.state() == before


def test_no_hook_and_no_update_command_of_the_local_config_runs(repo: Repo, tmp_path: Path) -> None:
    sentinel, script = sentinel_script(tmp_path)
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    (template / "post-checkout").write_bytes(script.read_bytes())
    (template / "post-checkout").chmod(0o755)
    with (tmp_path / "gitconfig").open("a") as user:
        user.write(f"[init]\n\ttemplateDir = {template.parent}\n")
    repo.git("config", "submodule.vendored.update", f"!{script}")
    with opened(repo, tmp_path).worktree(repo.state()[0], "head", submodules=True) as path:
        assert (path / "vendored" / "inner.py").exists()
    assert not sentinel.exists()


def test_a_submodule_never_comes_from_a_command(repo: Repo, tmp_path: Path) -> None:
    sentinel, script = sentinel_script(tmp_path)
    with (tmp_path / "gitconfig").open("a") as user:
        user.write('[protocol "ext"]\n\tallow = always\n')
    repo.git("config", "--file", ".gitmodules", "submodule.vendored.url", f"ext::{script}")
    sha = repo.commit({})
    git = opened(repo, tmp_path)
    before = repo.state()
    with (
        pytest.raises(GitError, match=r"submodules = true.*transport 'ext' not allowed.*submodules = false") as caught,
        git.worktree(sha, "head", submodules=True),
    ):
        pytest.fail("the worktree is not to be used")
    assert "\n" not in str(caught.value)
    assert not sentinel.exists()
    assert repo.state() == before


def test_lfs_objects_take_the_place_of_their_pointers(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_lfs(monkeypatch, tmp_path).write_text("weights")
    repo.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    repo.git("config", "lfs.standalonetransferagent", "mine")
    repo.git("config", "lfs.customtransfer.mine.path", "/bin/false")
    before = repo.state()
    with opened(repo, tmp_path).worktree(before[0], "base", lfs=True) as path:
        assert (path / "weights.bin").read_text() == "weights"
    assert (repo.path / "weights.bin").read_text() == POINTER
    assert repo.state() == before


def test_objects_that_cannot_be_read_are_one_sentence(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_lfs(monkeypatch, tmp_path)
    git, before = opened(repo, tmp_path), repo.state()
    with (
        pytest.raises(GitError, match=r"git lfs pull failed \(batch response: Repository not found\)"),
        git.worktree(before[0], "base", lfs=True),
    ):
        pytest.fail("the worktree is not to be used")
    assert repo.state() == before


def test_a_missing_git_lfs_is_said_and_no_alias_stands_in_for_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentinel, script = sentinel_script(tmp_path)
    repo.git("config", "alias.lfs", f"!{script}")
    monkeypatch.setattr("ci_action.edges.git.contents.shutil.which", lambda *_, **__: None)  # this machine may have it
    git = opened(repo, tmp_path)
    with (
        pytest.raises(GitError, match=r"lfs = true needs git-lfs, which is not on PATH"),
        git.worktree(repo.state()[0], "base", lfs=True),
    ):
        pytest.fail("the worktree is not to be used")
    assert not sentinel.exists()
