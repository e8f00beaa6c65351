"""Say the gate beside the head commit, where the owner asks for it: a commit status, or a check run with the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci_action.core.verdict import Gate
from ci_action.errors import PublishError
from ci_action.ports import CommitStatus, RefusedError

if TYPE_CHECKING:
    from ci_action.core.modes import StatusKind
    from ci_action.core.verdict import Verdict
    from ci_action.ports import Checks, Sink
    from ci_action.render.rendered import Rendered


PERMISSIONS = {"commit": "statuses: write", "check": "checks: write"}


def status_name(comment_id: str, base_ref: str = "") -> str:
    """Return one name per comment and base branch: a required check is found by it.

    One commit can be the head of two pull requests, and a pull request can get another base: what one branch's limits
    made of it must not stand for the other's.
    """
    parts = [part for part in (base_ref, "" if comment_id == "default" else comment_id) if part]
    return f"torchscan ({', '.join(parts)})" if parts else "torchscan"


def status_of(verdict: Verdict, rendered: Rendered, *, name: str, url: str) -> CommitStatus:
    """The line that a verdict is. What could not be judged is no failure of the code, and no pass either."""
    return CommitStatus(
        name=name,
        is_passed=verdict.exit_code == 0,
        is_known=verdict.outcome is not Gate.UNKNOWN,
        headline=rendered.headline,
        url=url,
        text=rendered.comment.partition("\n")[2],
    )


def pending(name: str) -> CommitStatus:
    """Return the line that stands until there is a verdict: whatever ends the run early, nothing older looks green."""
    headline = "the evidence is being judged"
    return CommitStatus(name=name, is_passed=False, is_known=False, headline=headline, is_pending=True)


def broken(name: str, reason: str, url: str = "") -> CommitStatus:
    """The line for a run that came to no verdict."""
    return CommitStatus(name=name, is_passed=False, is_known=False, headline=reason, url=url)


def deliver_status(
    kind: StatusKind, checks: Checks | None, sha: str, status: CommitStatus, sink: Sink, *, is_gate: bool
) -> int:
    """Write the line. Returns an exit code: where the line is the gate, a run without it must not look green.

    Where the job's own result is the gate, a token that can only read is a warning [B4].
    """
    if kind == "none":
        return 0
    try:
        if checks is None:
            raise PublishError("there is no token")
        {"commit": checks.set_status, "check": checks.create_check}[kind](sha, status)
    except PublishError as error:
        lost = ", so nothing gates this commit" if is_gate else ""
        said = f"no {kind} status was written{lost}: {error}{_todo(error, PERMISSIONS[kind])}"
        sink.annotate("error" if is_gate else "warning", said)
        return PublishError.exit_code if is_gate else 0
    return 0


def _todo(error: PublishError, permission: str) -> str:
    """Return what would change it. GitHub answers some tokens without the right with a 404 instead of a 403."""
    if not isinstance(error, RefusedError):
        return ""
    if error.is_permission:
        return f": grant the job `{permission}`"
    gone = f": the commit is not in the repository any more, or the token lacks `{permission}`"
    return gone if error.status == 404 else f": {error.other_reason}" if error.other_reason else ""
