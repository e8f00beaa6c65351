"""GitHub's REST API over HTTP: one host, one token, bounded waiting, errors that carry no secret [B13, S11, S24]."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests

from ci_action.edges.github.waiting import SERVER_FAULTS, is_rate_limit, seconds_to_wait
from ci_action.errors import PublishError
from ci_action.ports import RefusedError, UncertainError
from torchscan import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

BUDGET_SECONDS = 180.0
TIMEOUT_SECONDS = (10.0, 30.0)
BODY_SECONDS = 60.0
BODY_BYTES = 16 << 20
REDIRECTS = frozenset({301, 302, 307, 308})
ATTEMPTS = 6
PAGES = 100
NEXT = re.compile(r'<([^<>]+)>\s*;\s*rel="next"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: a status below 400, lower-case headers, and the parsed body (None if there is none)."""

    status: int
    headers: dict[str, str]
    body: Any


class _Bearer(requests.auth.AuthBase):
    """Sets the token itself: without an auth object requests would prefer whatever a .netrc says."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class Api:
    """Sends requests to one base URL. All waiting of one Api together is bounded by ``budget_seconds``."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        budget_seconds: float = BUDGET_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._left = budget_seconds
        self._sleep = sleep
        self._session = requests.Session()
        self._session.auth = _Bearer(token)
        self._session.headers.update(
            {
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
                "User-Agent": f"torchscan-ci/{__version__}",
            }
        )

    def call(self, method: str, path: str, *, body: Any = None, is_repeatable: bool = True) -> Answer:
        """Send one request, again where the answer allows it.

        ``path`` is below the base URL, or a full URL of the same host. A request that is not repeatable and whose fate
        is unknown raises UncertainError. Raises RefusedError for a refusal, PublishError for everything else.
        """
        _, answer = self._settled(method, path, body, is_repeatable=is_repeatable)
        return answer

    def pages(self, path: str, *, under: str = "") -> list[Any]:
        """All items of a list, over all its pages. ``under``: the key that holds them, where the answer is an object.

        Raises PublishError.
        """
        found: list[Any] = []
        url = path
        for _ in range(PAGES):
            answer = self.call("GET", url)
            items = answer.body.get(under) if under and isinstance(answer.body, dict) else answer.body
            if not isinstance(items, list):
                raise PublishError(f"GitHub's answer to GET {path.partition('?')[0]} is not a list")
            found += items
            following = NEXT.search(answer.headers.get("link", ""))
            if following is None:
                return found
            url = following[1]
        raise PublishError(f"GET {path.partition('?')[0]} has more than {PAGES} pages")

    def redirection(self, path: str) -> str:
        """Where GitHub sends somebody who asks for ``path``. Nobody goes there with this token. Raises PublishError."""
        url, answer = self._settled("GET", path, None, wants_place=True)
        return urljoin(url, answer.headers["location"])

    def pause(self, attempt: int) -> None:
        """Wait before a caller's own repetition, out of the same budget."""
        self._wait(seconds_to_wait(0, {}, attempt), "request", self.base_url, 0)

    def _settled(
        self, method: str, path: str, body: Any, *, is_repeatable: bool = True, wants_place: bool = False
    ) -> tuple[str, Answer]:
        """Send until there is an answer, and return it with the URL that gave it: the one place where requests repeat.

        ``wants_place``: the answer that is wanted is a redirection. Any other request follows it within our base.
        """
        place = path if path.startswith("//") else path.lstrip("/")  # the former names another host: see _own
        url = self._own(urljoin(f"{self.base_url}/", place))
        for attempt in range(1, ATTEMPTS + 1):
            status, headers, text = self._send(method, url, body)
            parsed, is_json = _parsed(text, headers)
            is_redirect = status in REDIRECTS and (not wants_place or bool(headers.get("location")))
            if is_redirect if wants_place else 200 <= status < 300 and is_json:
                return url, Answer(status=status, headers=headers, body=parsed)
            if is_redirect:
                url = self._own(urljoin(url, headers.get("location", "")))
                continue
            is_paced = is_rate_limit(status, headers, text)
            is_cut = status < 300 and not wants_place  # a body that is no JSON did not come whole
            if not (is_paced or status in SERVER_FAULTS or is_cut):
                raise _refusal(method, url, status, headers, parsed)
            if not is_paced and not is_repeatable:
                raise UncertainError(f"{_shown(method, url)} may or may not have been carried out ({_kind(status)})")
            self._wait(seconds_to_wait(status, headers, attempt), method, url, status)
        raise PublishError(f"{_shown(method, url)} failed {ATTEMPTS} times")

    def _send(self, method: str, url: str, body: Any) -> tuple[int, dict[str, str], str]:
        """Status, headers and text; status 0 where no whole answer came."""
        try:
            with self._session.request(
                method, url, json=body, timeout=TIMEOUT_SECONDS, allow_redirects=False, stream=True
            ) as response:
                headers = {name.lower(): value for name, value in response.headers.items()}
                return response.status_code, headers, _text(response)
        except requests.RequestException:
            return 0, {}, ""

    def _wait(self, seconds: float, method: str, url: str, status: int) -> None:
        if seconds > self._left:
            raise PublishError(
                f"{_shown(method, url)} failed ({_kind(status)}), and the next try would have to wait {seconds:.0f} s, "
                f"more than the {self._left:.0f} s left for it: run the job again later"
            )
        self._left -= seconds
        self._sleep(seconds)

    def _own(self, url: str) -> str:
        """Refuse every URL that is not below our base: the token goes nowhere else."""
        parts, base = urlsplit(url), urlsplit(self.base_url)
        same = (parts.scheme, parts.netloc) == (base.scheme, base.netloc)
        if not same or not (parts.path == base.path or parts.path.startswith(f"{base.path}/")):
            raise PublishError(f"GitHub's answer points to another place ({parts.hostname}): not followed")
        return url


def _text(response: requests.Response) -> str:
    """The body, within a size and a time: a server that drips must not hold the job."""
    parts, size, began = [], 0, time.monotonic()
    for part in response.iter_content(1 << 16):
        parts.append(part)
        size += len(part)
        if size > BODY_BYTES or time.monotonic() - began > BODY_SECONDS:
            raise requests.ConnectionError("the answer is too long or too slow")
    return b"".join(parts).decode("utf-8", errors="replace")


def _parsed(text: str, headers: dict[str, str]) -> tuple[Any, bool]:
    if not text:
        return None, headers.get("content-length", "0") in {"", "0"}
    try:
        return json.loads(text), True
    except (ValueError, RecursionError):
        return None, False


def _refusal(method: str, url: str, status: int, headers: dict[str, str], body: Any) -> RefusedError:
    said = body.get("message", "") if isinstance(body, dict) else ""
    message = f"{_shown(method, url)} was answered with {status}"
    message += f" ({said[:200]})" if isinstance(said, str) and said else ""
    return RefusedError(message, status=status, permissions=headers.get("x-accepted-github-permissions", "")[:200])


def _shown(method: str, url: str) -> str:
    return f"{method} {urlsplit(url).path}"


def _kind(status: int) -> str:
    return f"status {status}" if status else "no answer"
