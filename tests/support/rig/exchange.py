"""One request and one answer as values, so that routes are plain functions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True, slots=True)
class Request:
    """What a route may read. ``public_url`` is where clients think the API is: Prism, when it stands in front."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    public_url: str
    own_url: str
    """Where the server itself listens: archives are served from here, as GitHub serves them off its API host."""

    @property
    def json(self) -> Any:
        """Give the body as JSON; an empty or non-JSON body is an empty object."""
        if not self.body or "json" not in self.headers.get("content-type", ""):
            return {}
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Response:
    """What a route answers: JSON unless ``body`` is bytes already."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """Give the bytes of the body; statuses without one give none."""
        if self.status in {204, 304} or self.body is None:
            return b""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **extra: Any) -> Response:
    """Answer the way GitHub words its errors."""
    body = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status), **extra}
    return Response(status, body, headers or {})


def page(request: Request, items: Sequence[Any], *, under: str | None = None) -> Response:
    """Answer one page with GitHub's ``Link`` header: 30 items by default, 100 at most."""
    size = min(int(request.query.get("per_page", "30")), 100)
    number = int(request.query.get("page", "1"))
    last = max(1, -(-len(items) // size))
    links = []
    if number < last:
        links = [_link(request, number + 1, "next"), _link(request, last, "last")]
    if number > 1:
        links += [_link(request, 1, "first"), _link(request, number - 1, "prev")]
    shown = list(items[(number - 1) * size : number * size])
    body = {"total_count": len(items), under: shown} if under else shown
    return Response(200, body, {"Link": ", ".join(links)} if links else {})


def _link(request: Request, number: int, relation: str) -> str:
    query = urlencode({**request.query, "page": str(number)})
    return f'<{request.public_url}{request.path}?{query}>; rel="{relation}"'
