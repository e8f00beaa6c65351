"""The Git port with the real git: commits by full SHA, detached worktrees, a workspace that is never touched."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ci_action.core.config.committed import ABSENT, MAX_BYTES, TOO_LARGE, CommittedFile, committed, kind_problem
from ci_action.edges.git.call import GitCall, complaint
from ci_action.edges.git.contents import fetch_lfs, fill_submodules, pull_lfs
from ci_action.edges.git.credentials import is_refused
from ci_action.edges.git.partial import complete
from ci_action.edges.git.snapshot import capture
from ci_action.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ci_action.edges.git.config import Pair

SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
DEEPENING = (("--deepen=50",), ("--deepen=200",), ("--unshallow",))
SERVER = re.compile(r"(https?|ssh)://|[\w.-]+@[\w.-]+:")
WORKTREE_PREFIX = "torchscan-"
DEEPER = "give actions/checkout the input fetch-depth: 0, or fetch that commit in an earlier step"
RIGHTS = "give this job the right to read the repository (contents: read)"


class GitRepository:
    """The repository that holds ``directory``.

    ``scratch`` takes the worktrees. ``trust`` accepts a checkout owned by another user (containers in CI). ``token``
    is sent to ``server_url`` only, and only where the checkout has no credentials of its own for it. ``repository``
    (owner/name) is asked there where the checkout's remote does not answer, e.g. over ssh without a key.
    """

    def __init__(
        self,
        directory: Path,
        *,
        scratch: Path,
        trust: bool = False,
        token: str | None = None,
        server_url: str = "https://github.com",
        repository: str = "",
    ) -> None:
        self._git = GitCall(directory, scratch=scratch, trust=trust)
        top = self._git.run("rev-parse", "--show-toplevel")
        if top.returncode:
            todo = (
                "run actions/checkout before this action" if trust else "run inside a clone, or name one: --directory"
            )
            problem = f"{directory} is not inside a git repository that may be read"
            raise GitError(f"{problem}: {todo} (git: {complaint(top)})")
        self.top = Path(top.stdout.decode().rstrip("\n")).resolve()
        self._scratch = scratch.resolve()
        self._git.authenticate(token, server_url)
        self._own_url = f"{server_url.rstrip('/')}/{repository}" if token and repository else ""

    def resolve(self, revision: str) -> str:
        """The full SHA of a commit that is here. Raises GitError naming the revision."""
        if revision.startswith("-") or "\0" in revision:
            raise GitError(f"{revision!r} is not the name of a commit; accepted: a branch, a tag or a commit id")
        found = self._git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if found.returncode:
            raise GitError(f"there is no commit {revision!r} in {self.top}: fetch it first, or name another one")
        return found.stdout.decode().strip()

    def tip(self, branch: str) -> str:
        """The commit at the end of a branch: as the remote has it now, else as this clone last saw it."""
        ref = f"refs/heads/{branch}"
        for source in self._sources():
            listed = (
                self._git.online("ls-remote", "--exit-code", "--end-of-options", source, ref).stdout.decode().split()
            )
            if len(listed) >= 2 and listed[1] == ref:
                self.ensure(listed[0])
                return listed[0]
        for remote in self._remotes()[:1]:
            with suppress(GitError):
                return self.resolve(f"refs/remotes/{remote}/{branch}")
        return self.resolve(ref)

    def parents(self, sha: str) -> list[str]:
        """Parents as the commit itself names them, also where a shallow clone has cut them off."""
        header = self._git.text("cat-file", "commit", _full(sha)).partition("\n\n")[0]
        return [line.removeprefix("parent ") for line in header.splitlines() if line.startswith("parent ")]

    def merge_base(self, one: str, other: str) -> str:
        """The best common ancestor; of several (criss-cross merges) always the same one. Deepens a shallow clone."""
        for deepen in ((), *DEEPENING):
            if deepen and not self._is_shallow():
                break
            if deepen:
                self._fetch(*deepen, one, other)
            bases = self._git.run("merge-base", "--all", _full(one), _full(other)).stdout.decode().split()
            if bases:
                return min(bases)
        raise GitError(f"commits {one[:12]} and {other[:12]} have no common ancestor in {self.top}: {DEEPER}")

    def ensure(self, sha: str) -> None:
        """Make a commit and its files available: as they are, fetched by its SHA, or by deepening a shallow clone."""
        if not self._has(_full(sha)):
            self._obtain(sha)
        complete(self._git, sha, self._fetch_objects)

    def _obtain(self, sha: str) -> None:
        shallow = self._is_shallow()
        said = self._fetch("--depth=1", sha) if shallow else self._fetch(sha)
        for deepen in DEEPENING if shallow else ():
            if self._has(sha):
                return
            said = self._fetch(*deepen) or said
        if not self._has(sha):
            kind = "shallow clone" if shallow else "repository"
            todo = RIGHTS if is_refused(said) else DEEPER
            raise GitError(f"commit {sha} is not in this {kind} and cannot be fetched ({said}): {todo}")

    def fetch_lfs(self, *shas: str) -> None:
        """Fetch the LFS objects of commits, for worktrees that are made where no credentials are. Raises GitError."""
        for remote in self._remotes()[:1]:
            fetch_lfs(self._git, remote, [_full(sha) for sha in shas])

    def read(self, sha: str, path: str) -> CommittedFile:
        """Return what a commit has at a path. A link or a submodule on the way to it means that nothing is there."""
        listed = self._git.text("ls-tree", "-z", "--full-tree", _full(sha), "--", path).split("\0")[0]
        if not listed:
            return ABSENT
        mode, _, blob = listed.partition("\t")[0].split()
        if problem := kind_problem(mode):
            return CommittedFile(problem=problem)
        if int(self._git.text("cat-file", "-s", blob)) > MAX_BYTES:
            return TOO_LARGE
        return committed(self._git.run("cat-file", "blob", blob).stdout)

    def changed_paths(self, base: str, head: str) -> list[str]:
        """Paths whose content or mode differs; a rename is its old and its new path."""
        listed = self._git.text(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", _full(base), _full(head)
        )
        return [path for path in listed.split("\0") if path]

    def snapshot(self) -> str:
        """A commit of the working tree as it stands, untracked files included, ignored ones not.

        Its objects lie in the scratch folder: neither the index nor the object store of the repository changes.
        """
        return capture(self._git, self.top, self._scratch)

    @contextmanager
    def worktree(self, sha: str, name: str, *, submodules: bool = False, lfs: bool = False) -> Iterator[Path]:
        """A detached worktree of one commit in the scratch folder, gone at the end.

        Submodules' folders stay empty and LFS files stay pointers unless asked for.
        """
        self._forget_the_dead()
        self._scratch.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix=f"{WORKTREE_PREFIX}{name}-", dir=self._scratch)).resolve()
        try:
            complete(self._git, _full(sha), self._fetch_objects)
            self._git.text("worktree", "add", "--quiet", "--detach", "--force", "--no-checkout", str(path), sha)
            # A config that is included for worktrees alone (includeIf) may set up filters that only now can be seen.
            self._git.text("reset", "--quiet", "--hard", directory=path, config=self._git.filters_off(path))
            if submodules:
                fill_submodules(self._git, path)
            if lfs:
                pull_lfs(self._git, path)
            yield path
        finally:
            self._git.run("worktree", "remove", "--force", "--force", str(path))
            shutil.rmtree(path, ignore_errors=True)
            self._forget_the_dead()

    def _forget_the_dead(self) -> None:
        """Drop git's records of our own worktrees whose folders are gone, as a killed run leaves them."""
        common = self._git.path("--git-common-dir")
        for record in (common / "worktrees").glob(f"{WORKTREE_PREFIX}*"):
            pointer = record / "gitdir"
            if not pointer.exists() or not Path(pointer.read_text(encoding="utf-8").strip()).exists():
                shutil.rmtree(record, ignore_errors=True)

    def _has(self, sha: str) -> bool:
        return self._git.succeeds("cat-file", "-e", f"{sha}^{{commit}}")

    def _is_shallow(self) -> bool:
        return self._git.text("rev-parse", "--is-shallow-repository").strip() == "true"

    def _remotes(self) -> list[str]:
        """Names of the remotes, origin first."""
        return sorted(self._git.text("remote").split(), key=lambda name: (name != "origin", name))

    def _sources(self) -> list[str]:
        """What may be fetched from: the first remote, then the repository's own address on GitHub if that differs."""
        sources = self._remotes()[:1]
        addresses = [self._git.text("ls-remote", "--get-url", source).strip() for source in sources]
        differ = [address for address in addresses if address.removesuffix(".git") != self._own_url]
        return [*sources, self._own_url] if self._own_url and any(map(SERVER.match, differ)) else sources

    def _fetch(self, *arguments: str) -> str:
        """Fetch options and commits from the first source that has them; returns git's first complaint, or nothing."""
        options = [word for word in arguments if word.startswith("--")]
        commits = [_full(word) for word in arguments if not word.startswith("--")]
        # An empty refmap keeps the fetch from moving remote-tracking branches; without commits the branches are meant.
        return self._from_any_source([*options, *(["--refmap="] if commits else [])], commits)

    def _fetch_objects(self, objects: list[str]) -> str:
        """Fetch objects by their ids, and all below them. ``noop``: the server must not think that they are here."""
        options = ["--refmap=", "--no-filter", "--stdin"]
        return self._from_any_source(
            options, [], given="\n".join(objects), config=[("fetch.negotiationAlgorithm", "noop")]
        )

    def _from_any_source(
        self, options: list[str], commits: list[str], *, given: str = "", config: Sequence[Pair] = ()
    ) -> str:
        said, config = [], [*self._git.credentials.for_git(), *config]
        for source in self._sources():
            all_branches = source == self._own_url and not commits and not given
            wanted = ["refs/heads/*"] if all_branches else commits
            quiet = ["--no-tags", "--no-write-fetch-head"]
            done = self._git.online("fetch", *quiet, *options, source, *wanted, given=given, config=config)
            if done.returncode == 0:
                return ""
            said.append(complaint(done))
        return said[0] if said else "the repository has no remote"


def _full(sha: str) -> str:
    if not SHA.fullmatch(sha):
        raise GitError(f"{sha!r} is not a full commit id (40 or 64 lower-case hexadecimal digits)")
    return sha
