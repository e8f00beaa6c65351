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


def status_name(comment_id: str) -> str:
    """One name per comment: a required check is found by it."""
    return "torchscan" if comment_id == "default" else f"torchscan ({comment_id})"


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


def broken(name: str, reason: str, url: str = "") -> CommitStatus:
    """The line for a run that came to no verdict."""
    return CommitStatus(name=name, is_passed=False, is_known=False, headline=reason, url=url)


def deliver_status(kind: StatusKind, checks: Checks | None, sha: str, status: CommitStatus, sink: Sink) -> int:
    """Write the line. Returns an exit code: without its gate a run must not look green."""
    if kind == "none":
        return 0
    try:
        if checks is None:
            raise PublishError("there is no token")
        {"commit": checks.set_status, "check": checks.create_check}[kind](sha, status)
    except PublishError as error:
        is_denied = isinstance(error, RefusedError) and error.status in {403, 404}
        needed = f": grant the job `{PERMISSIONS[kind]}`" if is_denied else ""
        sink.annotate("error", f"the {kind} status was not written, so nothing gates this commit: {error}{needed}")
        return PublishError.exit_code
    return 0
