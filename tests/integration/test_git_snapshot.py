"""The working tree as a commit: every edit is in it, whatever git's index believes of the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.git_repositories import Repo, make_repo

from ci_action.edges.git.repository import GitRepository

TICK = 1_700_000_000_000_000_000


@pytest.fixture(autouse=True)
def no_user_git_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = make_repo(tmp_path / "repo")
    made.git("config", "core.trustctime", "false")  # the time of a change of status cannot be set by a test
    (made.path / "model.py").write_text("size = 1\n")
    os.utime(made.path / "model.py", ns=(TICK, TICK))
    made.git("add", "--all")
    made.git("commit", "--quiet", "-m", "base")
    return made


def captured(repo: Repo, tmp_path: Path) -> str | None:
    git = GitRepository(repo.path, scratch=tmp_path / "scratch")
    return git.read(git.snapshot(), "model.py").text


def edit(repo: Repo, text: str) -> None:
    """Edit in the very tick in which the file was checked out."""
    (repo.path / "model.py").write_text(text)
    os.utime(repo.path / "model.py", ns=(TICK, TICK))


@pytest.mark.parametrize("behind", [0, 1, 1_000_000_000])
def test_an_edit_of_equal_size_in_the_tick_of_the_checkout_is_seen(repo: Repo, tmp_path: Path, behind: int) -> None:
    os.utime(repo.path / ".git" / "index", ns=(TICK - behind, TICK - behind))
    edit(repo, "size = 9\n")
    assert captured(repo, tmp_path) == "size = 9\n"


def test_the_index_keeps_its_time_to_the_nanosecond(repo: Repo, tmp_path: Path) -> None:
    os.utime(repo.path / ".git" / "index", ns=(TICK + 7, TICK + 7))
    GitRepository(repo.path, scratch=tmp_path / "scratch").snapshot()
    assert (repo.path / ".git" / "index").stat().st_mtime_ns == TICK + 7


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_that_the_index_is_told_to_overlook_is_seen(repo: Repo, tmp_path: Path, mark: str) -> None:
    repo.git("update-index", mark, "model.py")
    (repo.path / "model.py").write_text("size = 22\n")
    before = repo.git("ls-files", "-v")
    assert captured(repo, tmp_path) == "size = 22\n"
    assert repo.git("ls-files", "-v") == before


@pytest.mark.parametrize("setting", ["core.splitIndex", "core.untrackedCache", "feature.manyFiles"])
def test_no_kind_of_index_hides_an_edit_or_grows_a_file_beside_it(repo: Repo, tmp_path: Path, setting: str) -> None:
    repo.git("config", setting, "true")
    repo.git("update-index", *(["--split-index"] if setting == "core.splitIndex" else ["--refresh"]))
    (repo.path / "new.py").write_text("new = True\n")
    edit(repo, "size = 22\n")
    before = sorted(str(path) for path in (repo.path / ".git").rglob("*"))
    assert captured(repo, tmp_path) == "size = 22\n"
    assert sorted(str(path) for path in (repo.path / ".git").rglob("*")) == before
