"""Which two commits an event compares, on real histories."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.git_repositories import Repo, clone, make_repo

from ci_action.commits import choose_commits, choose_local, without_base
from ci_action.core.event import Event, PullRequest
from ci_action.core.plan import Commits
from ci_action.edges.git.repository import GitRepository
from ci_action.errors import EventError, GitError


@dataclass(frozen=True)
class History:
    """main moved on after feature had left it: fork - moved (main), fork - one - head (feature), merge of both."""

    repo: Repo
    fork: str
    moved: str
    head: str
    merge: str


@pytest.fixture(autouse=True)
def no_user_git_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def history(tmp_path: Path) -> History:
    repo = make_repo(tmp_path / "origin")
    repo.commit({"a": "0"}, "root")
    fork = repo.commit({"a": "1"}, "fork point")
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({"b": "1"})
    head = repo.commit({"b": "2"})
    repo.git("checkout", "--quiet", "main")
    moved = repo.commit({"c": "1"}, "main moves on")
    repo.git("checkout", "--quiet", "--detach", "main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "feature")
    merge = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", "refs/pull/7/merge", merge)
    return History(repo, fork, moved, head, merge)


def chosen(history: History, event: Event, tmp_path: Path, *, at: str, base: str | None = None) -> Commits:
    history.repo.git("checkout", "--quiet", "--detach", at)
    return choose_commits(event, GitRepository(history.repo.path, scratch=tmp_path / "scratch"), base=base)


def pull_request(history: History, *, sha: str | None = None, head: str | None = None) -> Event:
    pull = PullRequest(
        number=7,
        head_sha=head or history.head,
        head_ref="feature",
        head_repository="o/r",
        base_sha=history.fork,  # the tip of base at the last synchronisation, which may be old
        base_ref="main",
        base_repository="o/r",
    )
    return Event(name="pull_request", repository="o/r", sha=sha or history.merge, pull_request=pull)


def test_a_pull_request_is_judged_by_the_tip_of_its_base_branch(history: History, tmp_path: Path) -> None:
    # given a checkout of the head itself, whose base is the commit where it left main
    commits = chosen(history, pull_request(history, sha=history.head), tmp_path, at=history.head)
    assert (commits.base_sha, commits.policy_sha) == (history.fork, history.moved)


def test_the_tip_is_asked_of_the_remote(history: History, tmp_path: Path) -> None:
    cloned = clone(history.repo, tmp_path / "clone")
    newest = history.repo.commit({"c": "2"}, "main moves on again")
    history.repo.git("update-ref", "refs/heads/main", newest)
    cloned.git("checkout", "--quiet", "--detach", history.head)
    git = GitRepository(cloned.path, scratch=tmp_path / "scratch")
    commits = choose_commits(pull_request(history, sha=history.head), git)
    assert (commits.base_sha, commits.policy_sha) == (history.fork, newest)


def test_on_the_merge_commit_base_is_its_first_parent(history: History, tmp_path: Path) -> None:
    commits = chosen(history, pull_request(history), tmp_path, at=history.merge)
    assert (commits.base_sha, commits.measured_sha, commits.head_sha) == (history.moved, history.merge, history.head)
    assert commits.base_reason == "first parent of the merge commit"


def test_on_the_head_base_is_the_merge_base_and_never_the_moved_tip(history: History, tmp_path: Path) -> None:
    commits = chosen(history, pull_request(history), tmp_path, at=history.head)
    assert (commits.base_sha, commits.measured_sha) == (history.fork, history.head)
    assert commits.base_reason == "merge base with main"


def test_a_head_that_is_itself_a_merge_is_not_taken_for_the_merge_ref(history: History, tmp_path: Path) -> None:
    history.repo.git("checkout", "--quiet", "feature")
    history.repo.git("merge", "--quiet", "-m", "update from main", "main")
    head = history.repo.git("rev-parse", "HEAD")
    commits = chosen(history, pull_request(history, head=head), tmp_path, at=head)
    assert (commits.base_sha, commits.measured_sha) == (history.fork, head)


def test_another_checkout_is_not_measured_in_place_of_the_pull_request(history: History, tmp_path: Path) -> None:
    commits = chosen(history, pull_request(history), tmp_path, at=history.fork)
    assert (commits.base_sha, commits.measured_sha) == (history.fork, history.head)


def test_the_merge_ref_of_a_clone_of_depth_one_is_enough(history: History, tmp_path: Path) -> None:
    shallow = clone(history.repo, tmp_path / "shallow", "--depth=1")
    shallow.git("fetch", "--quiet", "--depth=1", "origin", "refs/pull/7/merge")
    shallow.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
    git = GitRepository(shallow.path, scratch=tmp_path / "scratch")
    commits = choose_commits(pull_request(history), git)
    assert (commits.base_sha, commits.measured_sha) == (history.moved, history.merge)
    with git.worktree(history.moved, "base") as path:
        assert (path / "c").exists()


def event(name: str, sha: str, base_hint: str | None = None) -> Event:
    return Event(name=name, repository="o/r", sha=sha, base_hint=base_hint)


def test_a_push_is_compared_with_what_was_there_before(history: History, tmp_path: Path) -> None:
    commits = chosen(history, event("push", history.moved, history.fork), tmp_path, at=history.moved)
    assert (commits.base_sha, commits.measured_sha) == (history.fork, history.moved)


@pytest.mark.parametrize("before", [None, "0" * 40, "d" * 40], ids=["none", "zeros", "lost"])
def test_a_push_without_a_usable_before_falls_back_to_where_it_left_main(
    history: History, tmp_path: Path, before: str | None
) -> None:
    commits = chosen(history, event("push", history.head, before), tmp_path, at=history.head)
    assert (commits.base_sha, commits.base_reason) == (history.fork, "merge base with main")


def test_a_merge_group_names_its_base(history: History, tmp_path: Path) -> None:
    commits = chosen(history, event("merge_group", history.merge, history.moved), tmp_path, at=history.merge)
    assert (commits.base_sha, commits.measured_sha) == (history.moved, history.merge)


def test_a_schedule_on_the_default_branch_compares_with_the_commit_before(history: History, tmp_path: Path) -> None:
    commits = chosen(history, event("schedule", history.moved), tmp_path, at=history.moved)
    assert commits.base_sha == history.fork
    assert "first parent" in commits.base_reason


@pytest.mark.parametrize("base", ["main", "branch named like the fork"])
def test_a_dispatch_compares_with_the_branch_that_was_asked_for(history: History, tmp_path: Path, base: str) -> None:
    hint = history.fork if base != "main" else base
    commits = chosen(history, event("workflow_dispatch", history.head, hint), tmp_path, at=history.head)
    assert commits.base_sha == history.fork


def test_the_first_commit_has_no_base(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "origin")
    only = repo.commit({"a": "0"})
    git = GitRepository(repo.path, scratch=tmp_path / "scratch")
    assert choose_commits(event("push", only), git).base_sha is None


def test_the_input_base_wins_over_the_event(history: History, tmp_path: Path) -> None:
    root = history.repo.git("rev-parse", f"{history.fork}^")
    commits = chosen(history, pull_request(history), tmp_path, at=history.merge, base=root)
    assert (commits.base_sha, commits.measured_sha) == (root, history.head)


def test_an_event_that_names_no_commits_is_refused(history: History, tmp_path: Path) -> None:
    with pytest.raises(EventError, match="'release' names no two commits"):
        chosen(history, event("release", history.head), tmp_path, at=history.head)


def test_a_base_that_nobody_has_is_one_sentence_and_head_is_left(history: History, tmp_path: Path) -> None:
    shallow = clone(history.repo, tmp_path / "shallow", "--depth=1", "--branch=feature")
    shallow.git("remote", "set-url", "origin", "file:///nowhere")
    git = GitRepository(shallow.path, scratch=tmp_path / "scratch")
    with pytest.raises(GitError, match="fetch-depth: 0"):
        choose_commits(pull_request(history), git)
    left = without_base(pull_request(history), git)
    assert (left.base_sha, left.measured_sha) == (None, history.head)


def test_a_local_run_compares_with_the_merge_base(history: History, tmp_path: Path) -> None:
    git = GitRepository(history.repo.path, scratch=tmp_path / "scratch")
    assert choose_local("main", "feature", git).base_sha == history.fork


def test_a_local_run_can_measure_the_working_tree(history: History, tmp_path: Path) -> None:
    history.repo.git("checkout", "--quiet", "feature")
    (history.repo.path / "b").write_text("uncommitted")
    git = GitRepository(history.repo.path, scratch=tmp_path / "scratch")
    commits = choose_local("main", ".", git)
    assert commits.base_sha == history.fork
    assert git.read(commits.measured_sha, "b").text == "uncommitted"
