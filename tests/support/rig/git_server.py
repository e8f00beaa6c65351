"""A private server for git over smart HTTP and for LFS: real ``git http-backend``, and nothing without a token."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"


@dataclass
class GitServer:
    """Repositories below ``root`` at ``url``. ``refusal`` is the status for a request without an accepted token."""

    root: Path
    url: str = ""
    tokens: set[str] = field(default_factory=set)
    refusal: int = 401
    objects: dict[str, bytes] = field(default_factory=dict)
    seen: list[tuple[str, list[str]]] = field(default_factory=list)
    """Each request's path and all its Authorization headers."""

    def header(self, token: str) -> tuple[str, str]:
        """Config that sends a token to this server, as actions/checkout writes it."""
        return f"http.{self.url}/.extraheader", f"AUTHORIZATION: {_basic(token)}"

    def store(self, content: bytes) -> str:
        """Keep an LFS object and return the pointer to it."""
        oid = hashlib.sha256(content).hexdigest()
        self.objects[oid] = content
        return POINTER.format(oid=oid, size=len(content))

    def accepts(self, headers: list[str]) -> bool:
        """Whether a request comes with one accepted token, once: GitHub answers 400 to a header that is sent twice."""
        return len(headers) == 1 and headers[0] in {_basic(token) for token in self.tokens}


def _basic(token: str) -> str:
    return "basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    server_state: GitServer

    def log_message(self, *_: Any) -> None:
        """Stay silent: ``seen`` holds every request."""

    def handle_request(self) -> None:
        body = self._body()
        path = urlsplit(self.path).path
        headers = self.headers.get_all("Authorization") or []
        self.server_state.seen.append((path, headers))
        if len(headers) > 1:
            self._send(400, b"more than one Authorization header")
        elif not self.server_state.accepts(headers):
            status = self.server_state.refusal
            extra = {"WWW-Authenticate": 'Basic realm="GitHub"'} if status == HTTPStatus.UNAUTHORIZED else {}
            self._send(status, b'{"message": "Bad credentials"}', extra)
        elif path.endswith("/info/lfs/objects/batch"):
            self._send(200, self._batch(json.loads(body)), {"Content-Type": "application/vnd.git-lfs+json"})
        elif path.startswith("/lfs-object/"):
            self._send(200, self.server_state.objects[path.rpartition("/")[2]])
        elif "/info/lfs/" in path:
            self._send(404, b"{}")
        else:
            self._backend(body)

    do_GET = do_POST = handle_request  # http.server looks these names up

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return chunks

    def _batch(self, asked: dict[str, Any]) -> bytes:
        answers: list[dict[str, Any]] = []
        for item in asked["objects"]:
            known = item["oid"] in self.server_state.objects
            href = f"{self.server_state.url}/lfs-object/{item['oid']}"
            missing = {"error": {"code": 404, "message": "Object does not exist"}}
            answers.append({**item, **({"actions": {"download": {"href": href}}} if known else missing)})
        return json.dumps({"transfer": "basic", "objects": answers}).encode()

    def _backend(self, body: bytes) -> None:
        address = urlsplit(self.path)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
            "GIT_PROJECT_ROOT": str(self.server_state.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH_INFO": address.path,
            "QUERY_STRING": address.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ")[::2] for line in head.decode().splitlines()]
        headers = dict(lines)
        self._send(int(headers.pop("Status", "200").split()[0]), answer, headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def git_server(root: Path, *tokens: str) -> Iterator[GitServer]:
    """Serve the repositories below ``root`` on a free port until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state = GitServer(root, f"http://127.0.0.1:{server.server_port}", set(tokens))
    server.RequestHandlerClass = type("Handler", (_Handler,), {"server_state": state})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
