"""A network with nothing in it but 127.0.0.1: what runs inside cannot reach a registry, a hub or GitHub."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CLONE_NEWNET = 0x40000000
HOLD = "ip link set lo up && echo ready && exec cat"


@dataclass(frozen=True, slots=True)
class Network:
    """Where the rig's processes and sockets live: a network namespace, or the host's own where none can be made."""

    holder: int | None = None

    @property
    def is_isolated(self) -> bool:
        """Whether nothing outside this machine can be reached from inside."""
        return self.holder is not None

    def command(self, *arguments: str) -> list[str]:
        """Give a command that runs inside."""
        enter = ["nsenter", f"--net=/proc/{self.holder}/ns/net", "--"] if self.holder else []
        return [*enter, *arguments]

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Make this thread's new sockets belong to the network. A socket stays where it was made."""
        if self.holder is None:
            yield
            return
        outside = Path(f"/proc/self/task/{threading.get_native_id()}/ns/net").open("rb")  # noqa: SIM115 # closed below
        try:
            _move_to(Path(f"/proc/{self.holder}/ns/net"))
            yield
        finally:
            _set_namespace(outside.fileno())
            outside.close()


def _move_to(namespace: Path) -> None:
    with namespace.open("rb") as handle:
        _set_namespace(handle.fileno())


def _set_namespace(descriptor: int) -> None:
    """Call setns(2), which Python has only since 3.12."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns failed")


@contextmanager
def isolated_network() -> Iterator[Network]:
    """Make an empty network, held open by a child that ends with this process. Needs root; else the host's is used."""
    if os.geteuid() != 0 or not all(shutil.which(tool) for tool in ("unshare", "nsenter", "ip")):
        yield Network()
        return
    command = ["unshare", "--net", "sh", "-c", HOLD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        ready = holder.stdout.readline() == "ready\n"
        yield Network(holder.pid) if ready else Network()
        holder.stdin.close()
