"""Prism in front of the fake: every request and answer is held against GitHub's own description."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.components import need
from support.rig.network import Network

START_SECONDS = 60.0
FATAL = "Request terminated with error"
"""Prism logs this for every request it refused and every answer it found wrong; to the client both look like GitHub."""


@dataclass(frozen=True, slots=True)
class Prism:
    """A running proxy. Its log is the judge: an empty list of violations means both directions kept to the document."""

    url: str
    log: Path

    def violations(self) -> list[str]:
        """Give the log lines of refused requests and wrong answers, each with its cause.

        A status that the document does not list (a planted 502) is only a warning to Prism, and is let pass here too.
        """
        text = re.sub(r"\x1b\[[0-9;]*m", "", self.log.read_text(encoding="utf-8", errors="replace"))
        return [line for line in text.splitlines() if FATAL in line or re.search(r"error\s+Violation", line)]


@contextmanager
def prism_proxy(network: Network, document: Path, upstream: str, log: Path) -> Iterator[Prism]:
    """Proxy ``upstream`` by ``document`` on a free port until the block ends."""
    port = _free_port(network)
    script = str(need("prism"))
    arguments = ["proxy", "--errors", "-h", "127.0.0.1", "-p", str(port), str(document), upstream]
    command = network.command(str(need("node")), script, *arguments)
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            _wait_until_open(network, port, process, log)
            yield Prism(f"http://127.0.0.1:{port}", log)
        finally:
            process.terminate()


def _free_port(network: Network) -> int:
    with network.entered(), socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_open(network: Network, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with network.entered():
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"Prism did not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
