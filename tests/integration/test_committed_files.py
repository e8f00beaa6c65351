"""What a commit has at a path: git in a checkout and GitHub's API without one must not tell different things."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.git_repositories import Repo, make_repo
from support.rig.server import FakeGitHub, fake_github
from support.scripted_server import Reply, scripted_server

from ci_action.core.plan import Commits
from ci_action.edges.git.repository import GitRepository
from ci_action.edges.github import trees
from ci_action.edges.github.api import Api
from ci_action.edges.github.remote import RemoteRest
from ci_action.errors import PublishError
from ci_action.ports import GoneError

TEXT = "seed = 1\n"


class Host:
    entered = staticmethod(nullcontext)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = make_repo(tmp_path / "repo")
    folder = made.path
    (folder / "sub").mkdir()
    (folder / "sub" / "é.toml").write_text(TEXT, encoding="utf-8")
    (folder / "plain.toml").write_text(TEXT)
    (folder / "run.toml").write_text(TEXT)
    (folder / "run.toml").chmod(0o755)
    (folder / "bom.toml").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    (folder / "crlf.toml").write_bytes(b"seed = 1\r\n")
    (folder / "utf16.toml").write_bytes(TEXT.encode("utf-16"))
    (folder / "latin.toml").write_bytes(b"# \xe9\n")
    (folder / "nul.toml").write_bytes(b"a\0b")
    (folder / "empty.toml").write_bytes(b"")
    (folder / "large.toml").write_bytes(b"#" * ((1 << 20) + 1))
    (folder / "edge.toml").write_bytes(b"#" * (1 << 20))
    (folder / "link.toml").symlink_to("plain.toml")
    (folder / "away.toml").symlink_to("/etc/passwd")
    (folder / "linked").symlink_to("sub")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'c' * 40},module.toml")
    (folder / "module.toml").mkdir()  # as an unpopulated submodule lies in a checkout
    made.git("add", "--all")
    made.git("commit", "--quiet", "-m", "all kinds")
    return made


@pytest.fixture
def github(repo: Repo) -> Iterator[FakeGitHub]:
    with fake_github(Host()) as served:  # type: ignore[arg-type] # as much of a network as is needed
        served.state.remote = repo.path
        yield served


def remote(github: FakeGitHub) -> RemoteRest:
    return RemoteRest(Api(github.own_url, "ghs_secret", sleep=lambda _: None), "acme/widget")


FILES: dict[str, tuple[str | None, str]] = {
    "plain.toml": (TEXT, ""),
    "run.toml": (TEXT, ""),
    "sub/é.toml": (TEXT, ""),
    "bom.toml": (TEXT, ""),
    "crlf.toml": ("seed = 1\r\n", ""),
    "empty.toml": ("", ""),
    "edge.toml": ("#" * (1 << 20), ""),
    "utf16.toml": (None, "not UTF-8 text"),
    "latin.toml": (None, "not UTF-8 text"),
    "nul.toml": (None, "not text: it holds NUL bytes"),
    "large.toml": (None, "larger than 1 MiB"),
    "link.toml": (None, "a symbolic link, which is not followed"),
    "away.toml": (None, "a symbolic link, which is not followed"),
    "module.toml": (None, "a submodule"),
    "sub": (None, "a folder"),
    "absent.toml": (None, ""),
    "sub/absent.toml": (None, ""),
    "*.toml": (None, ""),  # a path, never a pattern
    "linked/é.toml": (None, ""),
    "module.toml/x.toml": (None, ""),
    "plain.toml/x.toml": (None, ""),
}


def test_git_and_github_tell_the_same_of_every_kind_of_entry(repo: Repo, github: FakeGitHub, tmp_path: Path) -> None:
    git, asked = GitRepository(repo.path, scratch=tmp_path / "scratch"), remote(github)
    sha = repo.git("rev-parse", "HEAD")
    for path, expected in FILES.items():
        here, there = git.read(sha, path), asked.read(sha, path)
        assert (path, here.text, here.problem) == (path, *expected)
        assert there == here, path


def test_each_tree_and_each_blob_is_asked_for_once(repo: Repo, github: FakeGitHub) -> None:
    sha, asked = repo.git("rev-parse", "HEAD"), remote(github)
    for path in ("plain.toml", "run.toml", "absent.toml", "plain.toml"):
        asked.read(sha, path)
    assert [one.path.split("/")[-2] for one in github.state.journal] == ["trees", "blobs"]


def commits(repo: Repo) -> Commits:
    """Return a stack whose first part is on main by a squash: base, its merge with head, and the head."""
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({"model/a.py": "one\n", "model/b.py": "b\n"}, "first part")
    head = repo.commit({"docs/x.md": "x", "model/b.py": None}, "second part")
    repo.git("checkout", "--quiet", "main")
    base = repo.commit({"model/a.py": "one\n", "main/z.py": "z"}, "first part, squashed, and more")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "feature")
    merge = repo.git("rev-parse", "HEAD")
    return Commits(base_sha=base, head_sha=head, measured_sha=merge, base_reason="")


def test_what_was_merged_already_is_no_change(repo: Repo, github: FakeGitHub, tmp_path: Path) -> None:
    made = commits(repo)
    asked = remote(github)
    assert GitRepository(repo.path, scratch=tmp_path).changed_paths(str(made.base_sha), made.measured_sha) == [
        "docs/x.md"
    ]
    for merge_sha in (made.measured_sha, None, "f" * 40):  # GitHub's own merge, or one of which that is not known
        assert asked.changed_paths(made, merge_sha) == ["docs/x.md"]


def test_a_merge_that_hides_a_change_is_not_believed(repo: Repo, github: FakeGitHub) -> None:
    made = commits(repo)
    tree = repo.git("rev-parse", f"{made.base_sha}^{{tree}}")
    forged = repo.git("commit-tree", tree, "-p", str(made.base_sha), "-p", made.head_sha, "-m", "nothing changed")
    evil = replace(made, measured_sha=forged)
    assert remote(github).changed_paths(evil, made.measured_sha) == ["docs/x.md"]
    assert remote(github).changed_paths(evil, None) == ["docs/x.md"]


def test_a_head_that_was_measured_itself_is_compared_with_base(repo: Repo, github: FakeGitHub) -> None:
    base = repo.git("rev-parse", "HEAD")
    (repo.path / "run.toml").chmod(0o644)
    head = repo.commit({"plain.toml": None, "sub/new/deep.py": "x"})
    made = Commits(base_sha=base, head_sha=head, measured_sha=head, base_reason="")
    assert remote(github).changed_paths(made, None) == ["plain.toml", "run.toml", "sub/new/deep.py"]


@pytest.mark.parametrize("limit", [0, 3])
def test_a_repository_too_large_for_one_listing_is_walked(repo: Repo, github: FakeGitHub, limit: int) -> None:
    github.state.tree_limit = limit
    made = commits(repo)
    assert remote(github).changed_paths(made, None) == ["docs/x.md"]


def test_a_folder_that_becomes_a_file_is_all_of_its_paths(repo: Repo, github: FakeGitHub) -> None:
    base = repo.git("rev-parse", "HEAD")
    (repo.path / "sub" / "é.toml").unlink()
    (repo.path / "sub").rmdir()
    head = repo.commit({"sub": "now a file"})
    made = Commits(base_sha=base, head_sha=head, measured_sha=head, base_reason="")
    whole = remote(github).changed_paths(made, None)
    github.state.tree_limit = 0
    assert whole == remote(github).changed_paths(made, None) == ["sub", "sub/é.toml"]


def test_a_difference_that_takes_too_many_requests_is_not_known(
    repo: Repo, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MAX_TREES", 3)
    github.state.tree_limit = 0
    assert remote(github).changed_paths(commits(repo), None) is None


def test_thousands_of_files_are_two_requests(repo: Repo, github: FakeGitHub) -> None:
    base = repo.git("rev-parse", "HEAD")
    head = repo.commit({f"many/{number}.txt": "x" for number in range(3100)})
    made = Commits(base_sha=base, head_sha=head, measured_sha=head, base_reason="")
    found = remote(github).changed_paths(made, None)
    assert found is not None
    assert len(found) == 3100
    assert len(github.state.journal) == 2


def test_a_branch_or_commit_that_is_gone_is_named(repo: Repo, github: FakeGitHub) -> None:
    sha = repo.git("rev-parse", "HEAD")
    with pytest.raises(GoneError, match="the base branch 'release/1' is not in acme/widget any more"):
        remote(github).compare("release/1", sha)
    with pytest.raises(GoneError, match="commit ffffffffffff is not in acme/widget any more"):
        remote(github).compare("main", "f" * 40)
    with pytest.raises(GoneError, match="commit ffffffffffff"):
        remote(github).read("f" * 40, "torchscan.toml")


ENTRY = {"path": "torchscan.toml", "mode": "100644", "sha": "b" * 40}
ODD: dict[str, Any] = {
    "a list": [],
    "no tree": {"truncated": False},
    "a text": {"tree": "x", "truncated": False},
    "nothing for an entry": {"tree": [None], "truncated": False},
    "an id that is a path": {"tree": [ENTRY | {"sha": "../../user"}], "truncated": False},
    "a number for a mode": {"tree": [ENTRY | {"mode": 100644}], "truncated": False},
    "a list in part": {"tree": [ENTRY], "truncated": True},
}


@pytest.mark.parametrize("kind", ODD)
def test_a_tree_of_another_form_is_one_clear_error(kind: str) -> None:
    with scripted_server(Reply(body=ODD[kind])) as server, pytest.raises(PublishError):
        RemoteRest(Api(server.url, "t", sleep=lambda _: None), "acme/widget").read("a" * 40, "torchscan.toml")
    assert len(server.asked) == 1


BLOBS: dict[str, Any] = {
    "no base64": {"content": "é", "encoding": "base64", "size": 1},
    "another encoding": {"content": "x", "encoding": "none", "size": 1},
    "no text": {"content": None, "encoding": "base64", "size": 1},
}


@pytest.mark.parametrize("kind", BLOBS)
def test_a_blob_of_another_form_is_one_clear_error(kind: str) -> None:
    tree = Reply(body={"tree": [ENTRY], "truncated": False})
    with scripted_server(tree, Reply(body=BLOBS[kind])) as server, pytest.raises(PublishError):
        RemoteRest(Api(server.url, "t", sleep=lambda _: None), "acme/widget").read("a" * 40, "torchscan.toml")
    assert server.asked[1].path == f"/repos/acme/widget/git/blobs/{'b' * 40}"
