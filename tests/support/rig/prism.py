"""Prism in front of the fake: every request and answer is held against GitHub's own description."""

from __future__ import annotations

import re
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from support.components import need
from support.rig.network import Network

START_SECONDS = 60.0
LOG_SECONDS = 10.0
FATAL = "Request terminated with error"
"""Prism logs this for every request it refused and every answer it found wrong; to the client both look like GitHub."""


@dataclass(frozen=True, slots=True)
class Prism:
    """A running proxy. Its log is the judge: an empty list of violations means both directions kept to the document."""

    url: str
    log: Path
    network: Network

    def violations(self) -> list[str]:
        """Give the log lines of refused requests and wrong answers, each with its cause.

        A status that the document does not list (a planted 502) is only a warning to Prism, and is let pass here too.
        Prism writes its log late: a request of ours that it must refuse marks how far the log has to have come.
        """
        mark = f"/mark/{uuid.uuid4().hex}"
        with self.network.entered():
            requests.get(self.url + mark, timeout=10)
        lines = self._lines_up_to(mark)
        return [
            line for line in lines if "/mark/" not in line and (FATAL in line or re.search(r"error\s+Violation", line))
        ]

    def _lines_up_to(self, mark: str) -> list[str]:
        deadline = time.monotonic() + LOG_SECONDS
        while time.monotonic() < deadline:
            text = re.sub(r"\x1b\[[0-9;]*m", "", self.log.read_text(encoding="utf-8", errors="replace"))
            if f"{mark} " in text:
                return text.splitlines()
            time.sleep(0.01)
        raise RuntimeError(f"Prism's log never came to {mark}")


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
            yield Prism(f"http://127.0.0.1:{port}", log, network)
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
