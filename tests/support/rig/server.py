"""The fake GitHub as an HTTP server in this process: faults, the journal, then the routes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from support.rig import rest, results
from support.rig.exchange import Request, Response, error
from support.rig.network import Network
from support.rig.state import Exchange, Fault, GitHubState


@dataclass
class FakeGitHub:
    """A running fake. ``state`` may be read and changed by tests at any time between requests."""

    own_url: str
    prefix: str = ""
    public_url: str = ""
    """Where clients reach the API: Prism, once it stands in front."""
    state: GitHubState = field(default_factory=GitHubState)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def reset(self) -> GitHubState:
        """Forget everything and give the new, empty state."""
        self.state = GitHubState()
        return self.state

    def answer(self, request: Request) -> Response:
        """Answer one request, or let a planted fault answer it."""
        with self.lock:
            fault = next((f for f in self.state.faults if f.hits(request.method, request.path)), NO_FAULT)
            if fault.is_carried_out:
                self._routed(request)
            response = _failed(fault) or self._routed(request)
            self.state.journal.append(
                Exchange(request.method, request.path, dict(request.headers), request.json, response.status)
            )
        time.sleep(fault.delay_seconds)
        return response

    def _routed(self, request: Request) -> Response:
        return results.answer(self.state, request) or rest.answer(self.state, request, prefix=self.prefix)


NO_FAULT = Fault()
DROPPED = Response(0)


def _failed(fault: Fault) -> Response | None:
    if fault.drops_connection:
        return DROPPED
    if fault.raw_body is not None:
        return Response(fault.status or 200, fault.raw_body, fault.headers)
    return error(fault.status, fault.message, headers=fault.headers) if fault.status is not None else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without these two, Nagle's algorithm and delayed acknowledgements cost 40 ms a request.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    github: FakeGitHub

    def log_message(self, *_: Any) -> None:
        """Stay silent: the journal holds every request."""

    def handle_request(self) -> None:
        url = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=url.path,
            query=dict(parse_qsl(url.query)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self._body(),
            public_url=self.github.public_url,
            own_url=self.github.own_url,
        )
        response = self.github.answer(request)
        if response is DROPPED:
            self.close_connection = True
            self.connection.close()
            return
        self._send(response)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_request  # http.server looks these names up

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return chunks

    def _send(self, response: Response) -> None:
        body = response.encoded()
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "X-RateLimit-Limit": "1000",
            "X-RateLimit-Remaining": "999",
            "X-GitHub-Request-Id": "RIG:1",
            **response.headers,
        }
        self.send_response(response.status)
        for name, value in headers.items():
            self.send_header(name, value)
        if response.status not in {204, 304}:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def fake_github(network: Network, *, prefix: str = "") -> Iterator[FakeGitHub]:
    """Serve a fake GitHub on a free port inside ``network`` until the block ends."""
    with network.entered():
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    own_url = f"http://127.0.0.1:{server.server_port}"
    github = FakeGitHub(own_url=own_url, public_url=own_url, prefix=prefix)
    server.RequestHandlerClass = type("Handler", (_Handler,), {"github": github})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
