"""A watched process: its memory with all its descendants, its end, and the end of everything that it started."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Literal

from ci_action.edges.workers.death import shown_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import psutil

    from ci_action.edges.workers.place import ChildLimits

MEMORY_INTERVAL_SECONDS = 0.25
OUTPUT_BYTES = 16 << 20
SHOWN_BYTES = 64 << 10
POLL_SECONDS = 0.05
KILL_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Breach:
    """A limit that a process has passed, and the sentence that says so."""

    kind: Literal["MemoryLimit", "Timeout"]
    message: str


class WatchedProcess:
    """One child in a group of its own, its output in a capped file."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | str,
        environment: Mapping[str, str],
        output: Path,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._output = output
        self._looked = 0.0
        self._tree: dict[int, psutil.Process] = {}
        self._counts_itself = True
        self.peak_bytes = 0
        with output.open("ab") as sink:  # append: whatever is cut from the file below, the child goes on at its end
            self._process = subprocess.Popen(
                list(command),
                cwd=cwd,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=os.name == "posix",
                pass_fds=tuple(pass_fds),
            )

    @property
    def pid(self) -> int:
        """The child's number."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code once the child has ended; negative for a signal."""
        return self._process.poll()

    def look(self) -> int:
        """Bytes in use by the whole tree now, read at most a few times a second; also holds the output to its cap."""
        now = monotonic()
        if now - self._looked >= MEMORY_INTERVAL_SECONDS:
            self._looked = now
            self.peak_bytes = max(self.peak_bytes, self._resident_bytes())
            with suppress(OSError):  # measured code may have removed it
                if self._output.stat().st_size > OUTPUT_BYTES:
                    os.truncate(self._output, 0)
        return self.peak_bytes

    def breach(self, limits: ChildLimits, since: float, owed: str) -> Breach | None:
        """Return the limit that it has passed since ``since``, if any; ``owed`` is what it should have given."""
        used = self.look()
        if limits.memory_bytes is not None and used > limits.memory_bytes:
            allowed = shown_bytes(limits.memory_bytes)
            return Breach("MemoryLimit", f"stopped at {shown_bytes(used)} of memory, the memory-limit is {allowed}")
        if monotonic() - since > limits.timeout_seconds:
            seconds = f"{limits.timeout_seconds:g} s"
            return Breach("Timeout", f"no {owed} within {seconds}, the timeout-seconds of the config")
        return None

    def wait(self, limits: ChildLimits, owed: str, is_done: Callable[[], bool] = lambda: False) -> Breach | None:
        """Wait until it has ended or ``is_done``. Return the limit that it passed first, if any."""
        began = monotonic()
        while True:
            has_ended = self.returncode is not None  # asked first: nothing is written after the end
            if is_done() or has_ended:
                return None
            if found := self.breach(limits, began, owed):
                return found
            sleep(POLL_SECONDS)

    def hold_on(self, core: int) -> None:
        """Keep every thread on one core from now on."""
        with suppress(OSError):  # it may have ended; its next answer says so
            for thread in os.listdir(f"/proc/{self._process.pid}/task"):  # noqa: PTH208 # names are all that is needed
                os.sched_setaffinity(int(thread), {core})

    def count_children_alone(self) -> None:
        """Begin to count memory anew, and only that of its descendants."""
        self._counts_itself = False
        self._looked = self.peak_bytes = 0

    def kill_descendants(self) -> None:
        """End everything below it, also what is forked meanwhile."""
        import psutil

        for _ in range(KILL_ROUNDS):
            with suppress(psutil.Error):
                below = psutil.Process(self._process.pid).children(recursive=True)
                alive = [process for process in below if process.status() != psutil.STATUS_ZOMBIE]
                if not alive:
                    return
                for process in alive:
                    with suppress(psutil.Error):
                        process.kill()
            sleep(POLL_SECONDS / 5)

    def has_children(self) -> bool:
        """Whether it has processes of its own by now."""
        self._resident_bytes()
        return len(self._tree) > 1

    def kill(self) -> None:
        """End the child, its group, and descendants that left the group; wait for the child."""
        if self._process.poll() is None:
            self._resident_bytes()  # whatever it started since the last look
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        for process in self._tree.values():
            with suppress(Exception):  # it may be gone, or belong to somebody else by now
                process.kill()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def _resident_bytes(self) -> int:
        import psutil

        total = 0
        try:
            root = psutil.Process(self._process.pid)
            members = [root, *root.children(recursive=True)]
        except psutil.Error:
            return 0
        for process in members:
            self._tree.setdefault(process.pid, process)
            if process is not root or self._counts_itself:
                with suppress(psutil.Error):
                    total += process.memory_info().rss
        return total


def shown_output(output: Path) -> str:
    """The output as text: all of it, or its beginning and its end."""
    if not output.is_file() or output.is_symlink():
        return ""
    with output.open("rb") as source:
        size = source.seek(0, os.SEEK_END)
        source.seek(0)
        if size <= SHOWN_BYTES:
            return source.read().decode("utf-8", errors="replace")
        begin = source.read(SHOWN_BYTES // 2)
        source.seek(-SHOWN_BYTES // 2, os.SEEK_END)
        cut = f"\n… {size - SHOWN_BYTES} bytes not shown …\n"
        return begin.decode("utf-8", errors="replace") + cut + source.read().decode("utf-8", errors="replace")
