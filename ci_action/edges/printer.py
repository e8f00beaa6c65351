"""The only way to the standard streams: whatever is written there, only our own commands can command a runner.

Names, messages and tracebacks hold words of a pull request. While this program runs, both streams make every line
inert, whoever writes it; ``send_command`` alone goes past them.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from ci_action.edges.commands import defused, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LINE_END = re.compile(r"\r?\n")
"""A carriage return alone ends a line for a runner as well: inside of one it is shown, like every control character."""


class InertStream:
    """A text stream that passes whole lines on, each made harmless. What has no end yet waits for it."""

    def __init__(self, stream: TextIO, harmless: Callable[[str], str]) -> None:
        self.stream = stream
        self._harmless = harmless
        self._begun = ""

    def write(self, text: str) -> int:
        """Take text, and pass on the lines that are whole with it."""
        *lines, self._begun = _LINE_END.split(self._begun + text)
        if lines:
            self.stream.write("".join(f"{self._harmless(line)}\n" for line in lines))
        return len(text)

    def flush(self) -> None:
        """Flush the stream below. A line without an end stays: its beginning alone could look harmless."""
        self.stream.flush()

    def end(self) -> None:
        """Pass on what is left, as a line."""
        if self._begun:
            self.write("\n")
        self.flush()

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """The descriptor below."""
        return self.stream.fileno()

    @property
    def encoding(self) -> str:
        """The encoding below."""
        return self.stream.encoding


def send_command(command: str, stream: TextIO | None = None) -> None:
    """Write a command of ``edges.commands``, as it is, on lines of its own."""
    target = stream or sys.stderr
    if isinstance(target, InertStream):
        target.end()
        target = target.stream
    target.write(f"{command}\n")
    target.flush()


@contextmanager
def inert_streams(*, is_runner: bool) -> Iterator[None]:
    """Make both standard streams inert while the block runs. On a terminal it is control characters that would act."""
    harmless = defused if is_runner else visible
    before = sys.stdout, sys.stderr
    ours = [InertStream(stream, harmless) for stream in before]
    sys.stdout, sys.stderr = (cast("TextIO", stream) for stream in ours)
    try:
        yield
    finally:
        for stream in ours:
            stream.end()
        sys.stdout, sys.stderr = before
