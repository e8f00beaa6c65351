"""The promises of the Git port on each git that users have, from Debian 11's to the newest."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_repositories import Repo, make_repo
from support.rig.git_fixtures import plant_programs, use_git
from support.rig.git_server import GitServer, git_server
from support.rig.git_versions import OWN, UnpackedGit, gits

from ci_action.edges.git.repository import GitRepository
from ci_action.errors import GitError

FOREIGNER = "12345:12345"


@pytest.fixture(params=gits())
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> UnpackedGit:
    """Each git in turn, with a home of its own: git before 2.32 reads no GIT_CONFIG_GLOBAL."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return use_git(request.param, monkeypatch)


@pytest.fixture
def repo(version: UnpackedGit, tmp_path: Path) -> Repo:
    made = make_repo(tmp_path / "repo")
    made.commit({"model.py": "size = 1\n", "data.txt": "data\n"}, "base")
    return made


@pytest.fixture
def server(version: UnpackedGit, tmp_path: Path) -> Iterator[GitServer]:
    with git_server(tmp_path / "server", "sekrit") as running:
        yield running


def opened(repo: Repo, tmp_path: Path, **options: object) -> GitRepository:
    return GitRepository(repo.path, scratch=tmp_path / "scratch", **options)  # type: ignore[arg-type]


def published(server: GitServer, commits: int = 70) -> tuple[Repo, list[str]]:
    """A private repository on the server, as GitHub lets it be read: any commit, and partial clones."""
    made = make_repo(server.root / "o" / "r")
    for key in ("allowAnySHA1InWant", "allowFilter"):
        made.git("config", f"uploadpack.{key}", "true")
    first = made.commit({"n": "first", "sub/deep/model.py": "size = 1\n", "same.py": "same = 1\n"})
    rest = made.commit_many([{"n": str(number)} for number in range(commits - 2)])
    return made, [first, *rest, made.commit({"sub/deep/model.py": "size = 2\n"})]


def checked_out(server: GitServer, path: Path, *options: str) -> Repo:
    """A clone without credentials, as ``persist-credentials: false`` leaves it."""
    key, header = server.header("sekrit")
    command = ["git", "-c", f"{key}={header}", "clone", "--quiet", *options, f"{server.url}/o/r", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return Repo(path)


def test_the_set_is_of_different_versions(version: UnpackedGit) -> None:
    if version.suite == OWN:
        pytest.skip("this machine's own git may be of any version")
    oldest = {"bullseye": (2, 30), "bookworm": (2, 39), "trixie": (2, 47), "sid": (2, 50)}
    assert version.numbers >= oldest[version.suite]
    assert version.suite == "sid" or version.numbers[:2] == oldest[version.suite]


def test_no_program_that_the_repository_names_runs(repo: Repo, tmp_path: Path) -> None:
    sha = repo.state()[0]
    sentinel = plant_programs(repo, tmp_path)
    (repo.path / "model.py").write_text("size = 3\n")
    git = opened(repo, tmp_path)
    with git.worktree(sha, "base") as path:
        assert (path / "model.py").read_text() == "size = 1\n"
        assert (path / "data.txt").read_text() == "data\n"
    shot = git.snapshot()
    assert git.read(shot, "model.py").text == "size = 3\n"
    assert git.changed_paths(sha, shot) == ["model.py"]
    assert not sentinel.exists()


def test_no_filter_that_only_worktrees_see_runs(repo: Repo, tmp_path: Path) -> None:
    sentinel, script = tmp_path / "ran", tmp_path / "run-me.sh"
    script.write_text(f"#!/bin/sh\necho x >> {sentinel}\ncat\n")
    script.chmod(0o755)
    included = tmp_path / "included"
    included.write_text(f'[filter "late"]\n\tsmudge = {script}\n')
    repo.git("config", f"includeIf.gitdir:{repo.path}/.git/worktrees/**.path", str(included))
    sha = repo.commit({".gitattributes": "*.py filter=late\n"})
    with opened(repo, tmp_path).worktree(sha, "head") as path:
        assert (path / "model.py").read_text() == "size = 1\n"
    assert not sentinel.exists()


def test_programs_of_the_jobs_own_environment_do_not_outrank_the_hardening(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentinel = plant_programs(repo, tmp_path)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(repo.path / ".git" / "hooks"))
    with opened(repo, tmp_path).worktree(opened(repo, tmp_path).resolve("HEAD"), "head"):
        pass
    assert not sentinel.exists()


def test_neither_a_sparse_workspace_nor_a_replaced_commit_changes_what_a_commit_holds(
    repo: Repo, version: UnpackedGit, tmp_path: Path
) -> None:
    sha = repo.state()[0]
    other = repo.commit({"model.py": "size = 66\n"})
    repo.git("replace", sha, other)
    repo.git("sparse-checkout", "set", *(["--no-cone"] if version.numbers >= (2, 35) else []), "data.txt")
    (repo.path / "data.txt").write_text("edited\n")
    git = opened(repo, tmp_path)
    with git.worktree(sha, "base") as path:
        assert (path / "model.py").read_text() == "size = 1\n"
    shot = git.snapshot()
    assert git.changed_paths(other, shot) == ["data.txt"]
    with git.worktree(shot, "head") as path:
        assert (path / "model.py").read_text() == "size = 66\n"
        assert (path / "data.txt").read_text() == "edited\n"


def test_a_file_outside_a_sparse_workspace_counts_if_it_is_there_all_the_same(
    repo: Repo, version: UnpackedGit, tmp_path: Path
) -> None:
    repo.commit({"in/a.py": "a = 1\n", "out/b.py": "b = 1\n", "out/c.py": "c = 1\n"})
    repo.git("sparse-checkout", "init", "--cone", *(["--sparse-index"] if version.numbers >= (2, 37) else []))
    repo.git("sparse-checkout", "set", "in")
    (repo.path / "in" / "a.py").write_text("a = 22\n")
    (repo.path / "out").mkdir()
    (repo.path / "out" / "b.py").write_text("b = 22\n")
    git = opened(repo, tmp_path)
    with git.worktree(git.snapshot(), "head") as path:
        found = {file: (path / file).read_text() for file in ("in/a.py", "out/b.py", "out/c.py")}
    assert found == {"in/a.py": "a = 22\n", "out/b.py": "b = 22\n", "out/c.py": "c = 1\n"}


@pytest.mark.skipif(os.getuid() != 0, reason="needs the right to give a folder away")
@pytest.mark.parametrize("layout", ["plain", "subfolder", "worktree", "separate"])
def test_a_checkout_of_another_user_is_read_measured_and_captured(repo: Repo, tmp_path: Path, layout: str) -> None:
    inner = make_repo(tmp_path / "inner")
    inner.commit({"inner.py": "depth = 1\n"})
    repo.git("submodule", "--quiet", "add", f"file://{inner.path}", "vendored")
    repo.commit({"sub/other.py": "other = 1\n"})
    (tmp_path / "home" / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n[user]\n\tname = kept\n')
    top = repo.path
    if layout == "worktree":
        top = tmp_path / "linked"
        repo.git("worktree", "add", "--quiet", "--detach", str(top))
    if layout == "separate":
        repo.git("submodule", "--quiet", "deinit", "--force", "vendored")  # git does not mend its way to a moved folder
        repo.git("init", "--quiet", f"--separate-git-dir={tmp_path / 'elsewhere'}")
    for folder in (repo.path, top, tmp_path / "elsewhere"):
        if folder.exists():
            subprocess.run(["chown", "-R", FOREIGNER, str(folder)], check=True)
    folder = top / "sub" if layout == "subfolder" else top
    with pytest.raises(GitError, match=r"may be read: .* \(git: fatal: .*(dubious|unsafe)"):
        GitRepository(folder, scratch=tmp_path / "scratch")
    git = GitRepository(folder, scratch=tmp_path / "scratch", trust=True)
    assert git.top == top
    (top / "sub" / "other.py").write_text("other = 2\n")
    with git.worktree(git.resolve("HEAD"), "base", submodules=True) as path:
        assert (path / "sub" / "other.py").read_text() == "other = 1\n"
        assert (path / "vendored" / "inner.py").exists()
    with git.worktree(git.snapshot(), "head") as path:
        assert (path / "sub" / "other.py").read_text() == "other = 2\n"
    assert ("user.name", "kept") in git._git.listed("^user")


def test_the_users_own_config_and_helpers_still_count_where_a_foreign_checkout_is_trusted(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xdg = tmp_path / "home" / "xdg"
    (xdg / "git").mkdir(parents=True)
    (xdg / "gh").mkdir()
    (xdg / "gh" / "hosts.yml").write_text("a helper's own")
    (xdg / "git" / "ignore").write_text("ignored.txt\n")
    (xdg / "git" / "config").write_text("[one]\n\tvalue = xdg\n[include]\n\tpath = beside\n[safe]\n\tdirectory =\n")
    (xdg / "git" / "beside").write_text("[two]\n\tvalue = beside\n")
    (tmp_path / "home" / ".gitconfig").write_text("[three]\n\tvalue = home\n[include]\n\tpath = ~/more\n")
    (tmp_path / "home" / "more").write_text("[four]\n\tvalue = tilde\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(xdg))
    (repo.path / "ignored.txt").write_text("x")
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", FOREIGNER, str(repo.path)], check=True)
    git = opened(repo, tmp_path, trust=True)
    values = [value for _, value in git._git.listed(r"^(one|two|three|four)\.value$")]
    assert values == ["xdg", "beside", "home", "tilde"]
    assert git.read(git.snapshot(), "ignored.txt").is_absent
    seen = git._git.run("-c", 'alias.see=!cat "${XDG_CONFIG_HOME}/gh/hosts.yml"; echo $HOME', "see").stdout.decode()
    assert seen == f"a helper's own{tmp_path / 'home'}\n"


def test_a_private_repository_is_deepened_and_completed_with_the_token(
    server: GitServer, version: UnpackedGit, tmp_path: Path
) -> None:
    _, shas = published(server)
    shallow = checked_out(server, tmp_path / "shallow", "--depth=1")
    with pytest.raises(GitError, match=r"cannot be fetched \(fatal: .*contents: read"):
        opened(shallow, tmp_path).ensure(shas[3])
    git = opened(shallow, tmp_path, token="sekrit", server_url=server.url)
    git.ensure(shas[3])
    assert shallow.git("cat-file", "-t", shas[3]) == "commit"
    assert git.merge_base(shas[0], shas[-1]) == shas[0]
    assert git.tip("main") == shas[-1]


@pytest.mark.parametrize("kind", ["blob:none", "tree:0", "blob:limit=1"])
def test_a_partial_clone_is_completed_once_and_then_needs_no_server(
    server: GitServer, tmp_path: Path, kind: str
) -> None:
    _, shas = published(server, commits=3)
    partial = checked_out(server, tmp_path / "partial", "--no-checkout", f"--filter={kind}")
    planning = opened(partial, tmp_path, token="sekrit", server_url=server.url)
    for sha in (shas[0], shas[-1]):
        planning.ensure(sha)
    server.tokens.clear()
    server.seen.clear()
    measuring = opened(partial, tmp_path)
    assert measuring.changed_paths(shas[0], shas[-1]) == ["n", "sub/deep/model.py"]
    for sha, size in ((shas[0], 1), (shas[-1], 2)):
        with measuring.worktree(sha, "side") as path:
            assert (path / "sub" / "deep" / "model.py").read_text() == f"size = {size}\n"
            assert (path / "same.py").exists()
    assert server.seen == []


def test_what_a_partial_clone_lacks_is_one_sentence_and_no_lazy_fetch(server: GitServer, tmp_path: Path) -> None:
    _, shas = published(server, commits=3)
    partial = checked_out(server, tmp_path / "partial", "--no-checkout", "--filter=blob:none")
    server.seen.clear()
    git = opened(partial, tmp_path)
    with pytest.raises(GitError):
        git._git.text("cat-file", "blob", f"{shas[0]}:n")
    assert server.seen == []
    with pytest.raises(GitError, match=r"lacks 3 objects in this partial clone \(fatal: .*\): .*contents: read"):  # noqa: SIM117
        with git.worktree(shas[0], "base"):
            pytest.fail("the worktree is not to be used")


def test_a_working_tree_of_a_sparse_partial_clone_is_captured(server: GitServer, tmp_path: Path) -> None:
    _, shas = published(server, commits=3)
    partial = checked_out(server, tmp_path / "partial", "--filter=blob:none", "--sparse")
    (partial.path / "n").write_text("edited")
    planning = opened(partial, tmp_path, token="sekrit", server_url=server.url)
    shot = planning.snapshot()
    assert planning.changed_paths(shas[-1], shot) == ["n"]
    with planning.worktree(shot, "head") as path:
        assert (path / "n").read_text() == "edited"
        assert (path / "sub" / "deep" / "model.py").read_text() == "size = 2\n"


def test_the_working_tree_of_a_shallow_clone_is_compared_with_a_base_that_must_be_fetched(
    server: GitServer, tmp_path: Path
) -> None:
    from ci_action.commits import choose_local

    _, shas = published(server)
    shallow = checked_out(server, tmp_path / "shallow", "--depth=1")
    shallow.git("fetch", "--quiet", "--depth=1", f"file://{server.root / 'o' / 'r'}", shas[-3])
    (shallow.path / "n").write_text("edited")
    commits = choose_local(shas[-3], ".", opened(shallow, tmp_path, token="sekrit", server_url=server.url))
    assert commits.base_sha == shas[-3]
    assert int(shallow.git("rev-list", "--count", "HEAD")) > 1  # what was fetched outlives the scratch folder
