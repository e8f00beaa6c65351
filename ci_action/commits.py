"""Which two commits are compared: the choice of base and head for each event, with the reason in words [B41]."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ci_action.core.plan import Commits
from ci_action.errors import EventError, GitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ci_action.core.event import Event, PullRequest
    from ci_action.ports import Git

WORKING_TREE = "."


def choose_commits(event: Event, git: Git, *, base: str | None = None) -> Commits:
    """Choose base and head of an event and make both available. ``base`` is a revision that the owner asks for.

    Raises EventError for an event that names nothing to compare, GitError for a commit that cannot be had.
    """
    choose = RULES.get(event.name)
    if choose is None:
        raise EventError(f"the event {event.name!r} names no two commits: run on {', '.join(RULES)}")
    commits = _asked(event, git, base) if base else choose(event, git)
    if commits.base_sha is not None:
        git.ensure(commits.base_sha)
    git.ensure(commits.measured_sha)
    return replace(commits, policy_sha=_tip_of_base(event, git)) if event.pull_request else commits


def _tip_of_base(event: Event, git: Git) -> str | None:
    """Return the commit of the base branch whose config judges a pull request: its tip as the remote has it now.

    Where that cannot be asked it is the tip that the event names. The merge base would let an author choose older
    limits by where the branch starts. A push, a merge group or a dispatch is of this repository's own branches.
    """
    pull = event.pull_request
    assert pull is not None, "asked of pull requests alone"  # noqa: S101 # an invariant
    with suppress(GitError):
        return git.tip(pull.base_ref)
    with suppress(GitError):
        return git.resolve(pull.base_sha)
    return None


def choose_local(base: str, head: str, git: Git) -> Commits:
    """Choose the commits of a run on somebody's own machine: the merge base of two revisions.

    ``head`` may be ``.``: the working tree as it stands.
    """
    measured = git.snapshot() if head == WORKING_TREE else git.resolve(head)
    known = git.resolve("HEAD") if head == WORKING_TREE else measured  # no server knows the commit of a working tree
    ancestor = git.merge_base(git.resolve(base), known)
    return Commits(
        base_sha=ancestor,
        head_sha=measured,
        measured_sha=measured,
        base_reason=f"merge base with {base}",
        base_ref=base,
    )


def without_base(event: Event, git: Git) -> Commits:
    """Head alone, where base cannot be had: its numbers are still worth a report."""
    checked_out = git.resolve("HEAD")
    head = event.pull_request.head_sha if event.pull_request else checked_out
    with suppress(GitError):  # of a partial clone; the reason comes again where its worktree is made
        git.ensure(checked_out)
    return Commits(base_sha=None, head_sha=head, measured_sha=checked_out, base_reason="base cannot be had")


def _pull_request(event: Event, git: Git) -> Commits:
    if event.pull_request is None:
        raise EventError("the event pull_request carries no pull request")
    pull = event.pull_request
    checked_out = git.resolve("HEAD")
    if checked_out == pull.head_sha:  # asked first: a head may itself be a merge commit
        return _of_head(pull, git)
    parents = git.parents(checked_out)
    if len(parents) == 2 and (parents[1] == pull.head_sha or checked_out == event.sha):
        return Commits(
            base_sha=parents[0],
            head_sha=pull.head_sha,
            measured_sha=checked_out,
            base_reason="first parent of the merge commit",
            base_ref=pull.base_ref,
        )
    return _of_head(pull, git)


def _of_head(pull: PullRequest, git: Git) -> Commits:
    git.ensure(pull.head_sha)
    git.ensure(pull.base_sha)
    return Commits(
        base_sha=git.merge_base(pull.base_sha, pull.head_sha),
        head_sha=pull.head_sha,
        measured_sha=pull.head_sha,
        base_reason=f"merge base with {pull.base_ref}",
        base_ref=pull.base_ref,
    )


def _push(event: Event, git: Git) -> Commits:
    """The commit before the push; of a new branch or a lost commit, where it left the default branch [B36]."""
    before = event.base_hint
    if before and before.strip("0"):
        try:
            git.ensure(before)
        except GitError:  # a forced push may leave nothing that still reaches it
            return _of_branch(event, git, event.default_branch)
        return _plain(event, base=before, reason="the commit before the push")
    return _of_branch(event, git, event.default_branch)


def _merge_group(event: Event, git: Git) -> Commits:
    del git
    if not event.base_hint:
        raise EventError("the event merge_group names no base_sha")
    return _plain(event, base=event.base_hint, reason="base of the merge group")


def _free(event: Event, git: Git) -> Commits:
    return _of_branch(event, git, event.base_hint or event.default_branch)


def _asked(event: Event, git: Git, revision: str) -> Commits:
    pull = event.pull_request
    if pull is None:
        return _of_branch(event, git, revision)
    git.ensure(pull.head_sha)
    base = git.merge_base(_tip_or_commit(git, revision), pull.head_sha)
    return Commits(
        base_sha=base,
        head_sha=pull.head_sha,
        measured_sha=pull.head_sha,
        base_reason=f"merge base with {revision}",
        base_ref=revision,
    )


def _of_branch(event: Event, git: Git, branch: str) -> Commits:
    """Where the measured commit left a branch; on the branch itself, the commit before it."""
    git.ensure(event.sha)
    base = git.merge_base(_tip_or_commit(git, branch), event.sha)
    if base != event.sha:
        return _plain(event, base=base, reason=f"merge base with {branch}", ref=branch)
    first = next(iter(git.parents(event.sha)), None)
    reason = f"first parent, because head is on {branch}" if first else "head is the first commit"
    return _plain(event, base=first, reason=reason, ref=branch)


def _tip_or_commit(git: Git, revision: str) -> str:
    try:
        return git.tip(revision)
    except GitError:
        if len(revision) in {40, 64} and not revision.strip("0123456789abcdef"):
            git.ensure(revision)
        return git.resolve(revision)


def _plain(event: Event, *, base: str | None, reason: str, ref: str = "base") -> Commits:
    return Commits(base_sha=base, head_sha=event.sha, measured_sha=event.sha, base_reason=reason, base_ref=ref)


RULES: dict[str, Callable[[Event, Git], Commits]] = {
    "pull_request": _pull_request,
    "push": _push,
    "merge_group": _merge_group,
    "schedule": _free,
    "workflow_dispatch": _free,
}
