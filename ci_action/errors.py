"""One error tree. Each class carries the exit code that a user meets; a limit exceeded is a result, not an error.

ActionError             70  our own bug, or anything that has no better name
+-- ConfigError          2  the config, an input or the command line is wrong
+-- EventError           2  the event is not one that may measure
+-- GitError             3  a commit, worktree or base cannot be had
+-- MeasurementError     3  a side could not be measured at all
+-- EvidenceError        3  an evidence file is malformed or does not belong here
+-- PublishError         4  GitHub refused, where the owner demanded the comment
"""

from __future__ import annotations

from typing import ClassVar


class ActionError(Exception):
    """Base of all errors that end a run with a sentence instead of a traceback."""

    exit_code: ClassVar[int] = 70


class ConfigError(ActionError):
    """The config, an input or the command line is wrong: what, where, what is accepted.

    ``file`` is the config's path inside the repository, ``line`` and ``column`` count from 1; None where they are not
    known for certain.
    """

    exit_code = 2

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        """``file:line``, or the file alone; empty where it is no file that is wrong."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or ""


class EventError(ActionError):
    """The event may not measure, or does not say enough."""

    exit_code = 2


class GitError(ActionError):
    """A commit, a base or a worktree cannot be had."""

    exit_code = 3


class MeasurementError(ActionError):
    """A side could not be measured at all."""

    exit_code = 3


class EvidenceError(ActionError):
    """An evidence file is malformed or does not belong to this pull request."""

    exit_code = 3


class PublishError(ActionError):
    """GitHub refused the comment and the owner demanded one."""

    exit_code = 4
