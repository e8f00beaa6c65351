"""The Git port with the real git."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.git_repositories import Repo, clone, make_repo

from ci_action.edges.git.repository import GitRepository
from ci_action.errors import GitError


@pytest.fixture(autouse=True)
def no_user_git_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = make_repo(tmp_path / "repo")
    made.commit({"model.py": "size = 1\n"}, "base")
    return made


def opened(repo: Repo, tmp_path: Path, **options: object) -> GitRepository:
    return GitRepository(repo.path, scratch=tmp_path / "scratch", **options)  # type: ignore[arg-type]


def deep_history(tmp_path: Path, commits: int) -> tuple[Repo, list[str]]:
    made = make_repo(tmp_path / "origin")
    return made, [made.commit({"n": str(i)}, str(i)) for i in range(commits)]


def test_worktree_holds_the_commit_and_leaves_the_workspace_untouched(repo: Repo, tmp_path: Path) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.commit({"model.py": "size = 2\n"})
    (repo.path / "untracked.txt").write_text("mine")
    before = repo.state()
    with opened(repo, tmp_path).worktree(base, "base") as path:
        assert (path / "model.py").read_text() == "size = 1\n"
        assert not path.is_relative_to(repo.path)
    assert not path.exists()
    assert repo.state() == before


def test_worktree_is_removed_when_the_body_raises(repo: Repo, tmp_path: Path) -> None:
    before = repo.state()
    git = opened(repo, tmp_path)
    with pytest.raises(RuntimeError, match="boom"), git.worktree(repo.state()[0], "head") as path:  # noqa: PT012 # the body is the point
        (path / "litter.txt").write_text("x")
        raise RuntimeError("boom")
    assert not path.exists()
    assert repo.state() == before


def test_a_killed_run_leaves_status_and_head_and_the_next_run_tidies_up(repo: Repo, tmp_path: Path) -> None:
    head, status, worktrees = repo.state()
    script = textwrap.dedent(f"""
        import time
        from pathlib import Path
        from ci_action.edges.git.repository import GitRepository
        git = GitRepository(Path({str(repo.path)!r}), scratch=Path({str(tmp_path / "killed")!r}))
        with git.worktree({head!r}, "base"):
            print("ready", flush=True)
            time.sleep(60)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert repo.state()[:2] == (head, status)
    subprocess.run(["rm", "-rf", str(tmp_path / "killed")], check=True)  # as the runner empties RUNNER_TEMP
    with opened(repo, tmp_path).worktree(head, "base"):
        pass
    assert repo.state() == (head, status, worktrees)


def test_no_hook_no_filter_no_monitor_runs(repo: Repo, tmp_path: Path) -> None:
    sha = repo.state()[0]
    sentinel = tmp_path / "pwned"
    run_me = tmp_path / "run-me.sh"
    run_me.write_text(f"#!/bin/sh\necho x >> {sentinel}\ncat\n")
    run_me.chmod(0o755)
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / hook).write_bytes(run_me.read_bytes())
        (hooks / hook).chmod(0o755)
    for name in ("one", "two.dotted"):
        for key in ("smudge", "clean", "process"):
            repo.git("config", f"filter.{name}.{key}", str(run_me))
        repo.git("config", f"filter.{name}.required", "true")
    repo.git("config", "core.fsmonitor", str(run_me))
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "attributes").write_text("*.py filter=one\n*.txt filter=two.dotted\n")
    sentinel.unlink(missing_ok=True)
    git = opened(repo, tmp_path)
    with git.worktree(sha, "base") as path:
        assert (path / "model.py").read_text() == "size = 1\n"
    (repo.path / "model.py").write_text("size = 3\n")
    assert git.read(git.snapshot(), "model.py").text == "size = 3\n"
    assert not sentinel.exists()


def test_snapshot_holds_the_working_tree_and_writes_nothing_into_the_repository(repo: Repo, tmp_path: Path) -> None:
    repo.commit({".gitignore": "ignored.txt\n", "gone.py": "x = 1\n"})
    (repo.path / "model.py").write_text("size = 3\n")
    (repo.path / "new.py").write_text("new = True\n")
    (repo.path / "ignored.txt").write_text("secret")
    (repo.path / "gone.py").unlink()
    before = repo.state(), sorted(str(p) for p in (repo.path / ".git").rglob("*"))
    git = opened(repo, tmp_path)
    sha = git.snapshot()
    with git.worktree(sha, "head") as path:
        assert (path / "model.py").read_text() == "size = 3\n"
        assert (path / "new.py").exists()
        assert not (path / "ignored.txt").exists()
        assert not (path / "gone.py").exists()
    assert git.parents(sha) == [before[0][0]]
    assert (repo.state(), sorted(str(p) for p in (repo.path / ".git").rglob("*"))) == before


def test_snapshot_of_a_subfolder_covers_the_whole_repository(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"sub/a.py": "a = 1\n"})
    (repo.path / "model.py").write_text("size = 9\n")
    git = GitRepository(repo.path / "sub", scratch=tmp_path / "scratch")
    assert git.top == repo.path.resolve()
    assert git.read(git.snapshot(), "model.py").text == "size = 9\n"


def test_ensure_fetches_an_exact_commit_into_a_shallow_clone(tmp_path: Path) -> None:
    origin, shas = deep_history(tmp_path, 70)
    shallow = clone(origin, tmp_path / "shallow", "--depth=1")
    before = shallow.state()
    opened(shallow, tmp_path).ensure(shas[2])
    assert shallow.git("cat-file", "-t", shas[2]) == "commit"
    assert shallow.state() == before
    assert int(shallow.git("rev-list", "--count", "HEAD")) == 1  # nothing but the commit was fetched


def test_ensure_deepens_where_the_server_refuses_commits_by_id(tmp_path: Path) -> None:
    origin, shas = deep_history(tmp_path, 70)
    shallow = clone(origin, tmp_path / "shallow", "--depth=1", allow_any_sha=False)
    opened(shallow, tmp_path).ensure(shas[5])
    assert shallow.git("cat-file", "-t", shas[5]) == "commit"


def test_merge_base_of_a_shallow_clone_is_found_by_deepening(tmp_path: Path) -> None:
    origin, shas = deep_history(tmp_path, 3)
    origin.git("checkout", "--quiet", "-b", "feature")
    feature = [origin.commit({"f": str(i)}) for i in range(60)][-1]
    origin.git("checkout", "--quiet", "main")
    main = origin.commit({"n": "moved on"})
    shallow = clone(origin, tmp_path / "shallow", "--depth=1", "--no-single-branch")
    assert opened(shallow, tmp_path).merge_base(main, feature) == shas[-1]


def test_a_commit_that_nobody_has_gives_one_sentence_with_the_way_out(tmp_path: Path) -> None:
    origin, _ = deep_history(tmp_path, 2)
    shallow = clone(origin, tmp_path / "shallow", "--depth=1")
    with pytest.raises(GitError, match=r"f{40} is not in this shallow clone .* fetch-depth: 0") as caught:
        opened(shallow, tmp_path).ensure("f" * 40)
    assert "\n" not in str(caught.value)


def test_a_missing_remote_is_said(repo: Repo, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="the repository has no remote"):
        opened(repo, tmp_path).ensure("e" * 40)


@pytest.mark.parametrize("name", ["--upload-pack=touch pwned", "-x", "HEAD\0", "a" * 39, "main"])
def test_only_full_shas_reach_git(repo: Repo, tmp_path: Path, name: str) -> None:
    git = opened(repo, tmp_path)
    for call in (git.ensure, git.parents, lambda sha: git.read(sha, "model.py")):
        with pytest.raises(GitError, match="full commit id"):
            call(name)


def test_a_branch_named_like_a_folder_or_a_commit_is_not_confused(repo: Repo, tmp_path: Path) -> None:
    first = repo.state()[0]
    second = repo.commit({"model.py": "size = 2\n"})
    repo.git("branch", "model.py", first)
    repo.git("update-ref", f"refs/heads/{first}", second)
    git = opened(repo, tmp_path)
    assert git.resolve(first) == first
    assert git.resolve("model.py") == first
    with git.worktree(first, "base") as path:
        assert (path / "model.py").read_text() == "size = 1\n"


def test_resolve_names_the_revision_that_is_missing(repo: Repo, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="there is no commit 'origin/main'"):
        opened(repo, tmp_path).resolve("origin/main")


def test_parents_are_known_in_a_clone_of_depth_one(tmp_path: Path) -> None:
    origin, shas = deep_history(tmp_path, 2)
    origin.git("checkout", "--quiet", "-b", "feature", shas[0])
    feature = origin.commit({"f": "1"})
    origin.git("checkout", "--quiet", "main")
    origin.git("merge", "--quiet", "--no-ff", "-m", "merge", "feature")
    shallow = clone(origin, tmp_path / "shallow", "--depth=1")
    assert opened(shallow, tmp_path).parents(shallow.state()[0]) == [shas[1], feature]


def test_changed_paths_lists_both_names_of_a_rename(repo: Repo, tmp_path: Path) -> None:
    before = repo.state()[0]
    repo.git("mv", "model.py", "net.py")
    after = repo.commit({"extra file.txt": "1"})
    assert opened(repo, tmp_path).changed_paths(before, after) == ["extra file.txt", "model.py", "net.py"]


def test_criss_cross_history_always_gives_the_same_base(repo: Repo, tmp_path: Path) -> None:
    root = repo.state()[0]
    one = repo.commit({"a": "1"})
    repo.git("checkout", "--quiet", "-b", "other", root)
    two = repo.commit({"b": "1"})
    repo.git("merge", "--quiet", "-m", "x", one)
    other = repo.state()[0]
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "-m", "y", two)
    main = repo.state()[0]
    git = opened(repo, tmp_path)
    assert git.merge_base(main, other) == git.merge_base(other, main) == min(one, two)


def test_a_submodule_that_is_not_there_does_no_harm(repo: Repo, tmp_path: Path) -> None:
    inner = make_repo(tmp_path / "inner")
    inner.commit({"x": "1"})
    repo.git("submodule", "--quiet", "add", f"file://{inner.path}", "vendored")
    sha = repo.commit({"model.py": "size = 5\n"})
    before = repo.state()
    with opened(repo, tmp_path).worktree(sha, "base") as path:
        assert list((path / "vendored").iterdir()) == []
    assert repo.state() == before


@pytest.mark.skipif(os.getuid() != 0, reason="needs the right to give a folder away")
def test_a_checkout_of_another_user_is_accepted_only_when_trusted(repo: Repo, tmp_path: Path) -> None:
    subprocess.run(["chown", "-R", "12345:12345", str(repo.path)], check=True)
    with pytest.raises(GitError, match="not inside a git repository that may be read"):
        opened(repo, tmp_path)
    assert opened(repo, tmp_path, trust=True).resolve("HEAD")


def test_the_token_is_in_no_argument_and_bound_to_its_server(repo: Repo, tmp_path: Path) -> None:
    spy, log = tmp_path / "bin" / "git", tmp_path / "log"
    spy.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    settings = f'"$({real} -c "$2" config --get-urlmatch http.extraheader'
    spy.write_text(
        f'#!/bin/sh\necho "ARGS $*" >> {log}\n[ "$1" = -c ] && case "$*" in *" fetch "*)\n'
        f'echo "THEIRS "{settings} https://ghe.example/o/r)" >> {log}\n'
        f'echo "OTHER "{settings} https://other.example/o/r)" >> {log};;\nesac\nexec {real} "$@"\n'
    )
    spy.chmod(0o755)
    repo.git("remote", "add", "origin", "https://127.0.0.1:1/o/r.git")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
        git = opened(repo, tmp_path, token="ghs_sekrit", server_url="https://ghe.example")
        with pytest.raises(GitError) as caught:
            git.ensure("d" * 40)
    written = log.read_text().splitlines()
    secret = base64.b64encode(b"x-access-token:ghs_sekrit").decode()
    assert f"THEIRS AUTHORIZATION: basic {secret}" in written
    assert "OTHER " in written
    shown = "\n".join([*(line for line in written if line.startswith("ARGS")), str(caught.value)])
    assert secret not in shown
    assert "sekrit" not in shown


def test_the_checkouts_own_credentials_are_kept(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic theirs")
    git = opened(repo, tmp_path, token="ghs_sekrit")
    assert not [key for key, _ in git._git._config if "extraheader" in key]


def test_worktrees_start_quickly(repo: Repo, tmp_path: Path) -> None:
    git, sha = opened(repo, tmp_path), repo.state()[0]
    began = time.perf_counter()
    with git.worktree(sha, "base"), git.worktree(sha, "head"):
        pass
    assert time.perf_counter() - began < 5
