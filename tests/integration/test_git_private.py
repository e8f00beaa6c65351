"""Private repositories, their submodules and LFS objects, under every layout of credentials that a checkout leaves."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_repositories import Repo, make_repo
from support.rig.git_fixtures import use_git
from support.rig.git_server import GitServer, git_server

from ci_action.edges.git.repository import GitRepository
from ci_action.errors import GitError

SSH = """#!/bin/sh
# As far as git is concerned, ssh: it runs its last argument, if it was started with the key.
[ "$1" = -i ] && [ -e "$2" ] || { echo "Permission denied (publickey)." >&2; exit 255; }
while [ $# -gt 1 ]; do shift; done
exec sh -c "$1"
"""


@pytest.fixture(params=["bullseye", "sid"])
def suite(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The oldest and the newest git and git-lfs, with a home of their own."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME", "GIT_SSH_COMMAND", "GIT_SSH"):
        monkeypatch.delenv(name, raising=False)
    return use_git(request.param, monkeypatch).suite


@pytest.fixture
def server(suite: str, tmp_path: Path) -> Iterator[GitServer]:
    """A server with ``o/r``, which has private submodules under three kinds of addresses, and LFS objects."""
    with git_server(tmp_path / "server", "theirs", "ours") as running:
        deep, other, made = (make_repo(running.root / "o" / name) for name in ("deep", "other", "r"))
        for repo in (deep, other, made):
            repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
        below = deep.commit({"deep.py": "depth = 1\n"})
        beside = other.commit({"other.py": "other = 1\n"})
        modules = {"deep": f"{running.url}/o/deep", "relative": "../other", "ssh": "git@127.0.0.1:o/other"}
        text = "".join(f'[submodule "{name}"]\n\tpath = {name}\n\turl = {url}\n' for name, url in modules.items())
        made.commit({".gitmodules": text, ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
        for name, sha in (("deep", below), ("relative", beside), ("ssh", beside)):
            made.git("update-index", "--add", "--cacheinfo", f"160000,{sha},{name}")
        for number in range(3):
            (made.path / "weights.bin").write_text(running.store(b"weights %d" % number))
            made.git("add", "weights.bin")
            made.git("commit", "--quiet", "-m", f"weights {number}")
        yield running


def checked_out(server: GitServer, path: Path, layout: str) -> Repo:
    """A clone of depth 1, with the credentials as actions/checkout leaves them."""
    key, header = server.header("theirs")
    command = ["git", "-c", f"{key}={header}", "clone", "--quiet", "--depth=1", f"{server.url}/o/r", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    repo = Repo(path)
    if layout == "v4":
        repo.git("config", key, header)
    if layout in {"v6", "v6, emptied"}:
        kept = path.parent / "temp" / "git-credentials-1.config"
        repo.git("config", f"includeIf.gitdir:{path}/.git.path", str(kept))
        repo.git(
            "config", "includeIf.gitdir:/github/workspace/.git.path", "/github/runner_temp/git-credentials-1.config"
        )
        if layout == "v6":
            kept.parent.mkdir()
            subprocess.run(["git", "config", "--file", str(kept), key, header], check=True)
    if layout == "of another server":
        repo.git("config", "http.https://mirror.example/.extraheader", "AUTHORIZATION: basic eDp5")
    if layout == "taken back":
        repo.git("config", key, "AUTHORIZATION: basic eDp5")
        repo.git("config", "--add", key, "")
    return repo


def opened(repo: Repo, tmp_path: Path, server: GitServer, token: str | None = None) -> GitRepository:
    return GitRepository(repo.path, scratch=tmp_path / "scratch", token=token, server_url=server.url)


def first_weights(server: GitServer) -> str:
    return Repo(server.root / "o" / "r").git("rev-parse", "main~2")


@pytest.mark.parametrize(
    ("layout", "token"),
    [
        ("v4", None),
        ("v4", "ours"),
        ("v6", None),
        ("v6", "ours"),
        ("v6, emptied", "ours"),
        ("none", "ours"),
        ("of another server", "ours"),
        ("taken back", "ours"),
    ],
)
def test_every_layout_reaches_commits_submodules_and_objects(
    server: GitServer, tmp_path: Path, layout: str, token: str | None
) -> None:
    repo = checked_out(server, tmp_path / "work", layout)
    repo.git("config", "lfs.repositoryFormatVersion", "0")  # git-lfs writes it into each repository that it works in
    before, config = repo.state(), (repo.path / ".git" / "config").read_text()
    server.seen.clear()
    git, sha = opened(repo, tmp_path, server, token), first_weights(server)
    git.ensure(sha)
    lfs = layout != "taken back"  # git-lfs itself does not know that an empty header takes others back
    with git.worktree(sha, "base", submodules=True, lfs=lfs) as path:
        assert (path / "weights.bin").read_bytes() == b"weights 0" or not lfs
        assert (path / "deep" / "deep.py").exists()
        assert (path / "relative" / "other.py").exists()
        assert (path / "ssh" / "other.py").exists()
    assert (repo.state(), (repo.path / ".git" / "config").read_text()) == (before, config)
    sent = {header for _, headers in server.seen for header in headers}
    used = "theirs" if layout in {"v4", "v6"} else "ours"
    assert sent == {server.header(used)[1].removeprefix("AUTHORIZATION: ")}
    assert max(len(headers) for _, headers in server.seen) == 1


def test_objects_that_plan_fetched_need_no_token_where_it_is_measured(server: GitServer, tmp_path: Path) -> None:
    repo, sha = checked_out(server, tmp_path / "work", "none"), first_weights(server)
    head = repo.state()[0]
    planning = opened(repo, tmp_path, server, "ours")
    planning.ensure(sha)
    planning.fetch_lfs(sha, head)
    server.tokens.clear()
    server.seen.clear()
    measuring = opened(repo, tmp_path, server)
    for commit, weights in ((sha, b"weights 0"), (head, b"weights 2")):
        with measuring.worktree(commit, "side", lfs=True) as path:
            assert (path / "weights.bin").read_bytes() == weights
    assert server.seen == []


@pytest.mark.parametrize("refusal", [401, 403])
def test_a_right_is_named_only_where_the_server_refuses(server: GitServer, tmp_path: Path, refusal: int) -> None:
    repo = checked_out(server, tmp_path / "work", "none")
    git, head = opened(repo, tmp_path, server, "expired"), repo.state()[0]
    server.refusal = refusal
    with pytest.raises(GitError, match=r"cannot be fetched \(fatal: .*contents: read"):
        git.ensure("d" * 40)
    with pytest.raises(GitError, match=r"lfs = true, and git lfs fetch failed \(.*give this job the right to read"):
        git.fetch_lfs(head)
    with (
        pytest.raises(GitError, match=r"submodules = true.*\(fatal: .*give this job the right to read it"),
        git.worktree(head, "head", submodules=True),
    ):
        pytest.fail("the worktree is not to be used")


def test_what_is_simply_not_there_is_not_a_missing_right(server: GitServer, tmp_path: Path) -> None:
    repo = checked_out(server, tmp_path / "work", "none")
    git, head = opened(repo, tmp_path, server, "ours"), repo.state()[0]
    server.objects.clear()
    with pytest.raises(GitError, match=r"git lfs fetch failed \(.*see that its server has the objects") as caught:
        git.fetch_lfs(head)
    assert "right" not in str(caught.value)
    with pytest.raises(GitError) as caught:
        git.ensure("d" * 40)
    assert "right" not in str(caught.value)
    assert "fetch-depth: 0" in str(caught.value)


def over_ssh(server: GitServer, tmp_path: Path) -> tuple[Repo, Path]:
    """A checkout with ``ssh-key``; returns it and the key, which a later step may have taken away."""
    repo, key, program = checked_out(server, tmp_path / "work", "none"), tmp_path / "key", tmp_path / "ssh"
    program.write_text(SSH)
    program.chmod(0o755)
    key.touch()
    repo.git("remote", "set-url", "origin", f"git@127.0.0.1:{server.root}/o/r")
    repo.git("config", "core.sshCommand", f"{program} -i {key}")
    return repo, key


def test_a_key_for_ssh_reaches_commits_and_submodules(server: GitServer, tmp_path: Path) -> None:
    repo, _ = over_ssh(server, tmp_path)
    modules = f'[submodule "deep"]\n\tpath = deep\n\turl = git@127.0.0.1:{server.root}/o/deep\n'
    repo.git("rm", "--quiet", "--cached", "relative", "ssh")
    for folder in ("relative", "ssh"):
        (repo.path / folder).rmdir()
    (repo.path / ".gitmodules").write_text(modules)
    repo.git("commit", "--quiet", "--all", "-m", "by ssh alone")
    server.seen.clear()
    git, sha = opened(repo, tmp_path, server), first_weights(server)
    git.ensure(sha)
    with git.worktree(repo.state()[0], "head", submodules=True) as path:
        assert (path / "deep" / "deep.py").exists()
    assert server.seen == []


def test_without_the_key_the_repositorys_own_address_is_asked_with_the_token(server: GitServer, tmp_path: Path) -> None:
    repo, key = over_ssh(server, tmp_path)
    key.unlink()
    with pytest.raises(GitError, match=r"contents: read"):
        opened(repo, tmp_path, server, "ours").ensure(first_weights(server))
    own = GitRepository(repo.path, scratch=tmp_path / "scratch", token="ours", server_url=server.url, repository="o/r")
    own.ensure(first_weights(server))
    assert own.parents(first_weights(server))
    assert own.tip("main") == repo.state()[0]


def test_no_token_stands_on_a_command_line_or_stays_in_a_file(
    server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, log, spy = (
        subprocess.run(["which", "git"], capture_output=True, text=True, check=True),
        tmp_path / "log",
        tmp_path / "spy",
    )
    spy.mkdir()
    (spy / "git").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {log}\nexec {real.stdout.strip()} "$@"\n')
    (spy / "git").chmod(0o755)
    repo = checked_out(server, tmp_path / "work", "v6")
    monkeypatch.setenv("PATH", f"{spy}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TORCHSCAN_TOKEN", "ours")
    git = opened(repo, tmp_path, server, "ours")
    git.ensure(first_weights(server))
    secrets = {server.header(token)[1].split()[-1] for token in ("ours", "theirs")}
    kept = [path.read_text() for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    for text in (log.read_text(), *kept):
        assert not any(secret in text for secret in secrets)
    seen = git._git.run("-c", "alias.see=!env", "see").stdout.decode()
    assert "TORCHSCAN_TOKEN" not in seen
