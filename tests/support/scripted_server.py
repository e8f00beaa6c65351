"""An HTTP server on 127.0.0.1 that answers from a script and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """One answer. ``cut``: announce more bytes than are sent. ``drop``: close without an answer."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: bool = False
    drop: bool = False


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Scripted:
    """A running server: ``script`` is consumed reply by reply; its last reply is repeated."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def next(self) -> Reply:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


class _Handler(BaseHTTPRequestHandler):
    scripted: Scripted
    wbufsize = 1 << 16

    def log_message(self, *_: Any) -> None:
        """Stay silent."""

    def answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.scripted.asked.append(Asked(self.command, self.path, headers, json.loads(content) if content else None))
        reply = self.scripted.next()
        if reply.drop:
            self.connection.close()
            return
        data = reply.raw if reply.raw is not None else b"" if reply.body is None else json.dumps(reply.body).encode()
        self.send_response_only(reply.status)  # without a Date of its own
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data) + 10 * reply.cut))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = answer


@contextmanager
def scripted_server(*script: Reply) -> Iterator[Scripted]:
    """Serve the script on a free port until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    scripted = Scripted(url=f"http://127.0.0.1:{server.server_port}", script=list(script))
    server.RequestHandlerClass = type("Handler", (_Handler,), {"scripted": scripted})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
