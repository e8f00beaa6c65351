"""Start one command and write its exit code and peak resident set to a descriptor. Run as a script, never imported.

Imports next to nothing: the memory of this process is the floor of what it can report.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def launch(writer: int, words: list[str]) -> None:
    """Run the command, wait for it alone, and answer in JSON."""
    os.set_inheritable(writer, False)
    failed_reader, failed_writer = os.pipe()  # closed by a successful exec; else it carries the errno
    child = os.fork()
    if child == 0:
        os.close(failed_reader)
        try:
            os.execvp(words[0], words)  # noqa: S606 # no shell is the point
        except OSError as error:
            os.write(failed_writer, str(error.errno or 1).encode())
        finally:
            os._exit(127)

    def pass_on(number: int, _frame: FrameType | None) -> None:
        os.kill(child, number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the child as well
    os.close(failed_writer)
    errno = os.read(failed_reader, 16)
    _, status, usage = os.wait4(child, 0)
    answer = (
        f'{{"errno": {int(errno)}}}'
        if errno
        else f'{{"returncode": {os.waitstatus_to_exitcode(status)}, "max_rss": {usage.ru_maxrss}}}'
    )
    os.write(writer, answer.encode())


if __name__ == "__main__":
    launch(int(sys.argv[1]), sys.argv[2:])
