"""How the checkout reaches its server: resolved once, where it is visible, and handed to every call that needs it.

actions/checkout leaves the token in ``.git/config`` (up to v5), in a file that ``includeIf "gitdir:..."`` names for the
checkout alone (from v6: worktrees and submodules do not match, actions/checkout#2318), or nowhere
(``persist-credentials: false``). A key for ssh is in ``core.sshCommand``.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ci_action.edges.git.config import Pair

WANTED = r"^(http\..*extraheader|core\.sshcommand)$"
"""The keys, as a pattern for ``git config --get-regexp``."""

_REFUSED = re.compile(
    r"(error:|http|status( code)?:?)\s*40[13]\b|authentication (failed|required)|authorization error"
    r"|could not read (username|password)|permission .*denied|permission denied",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers for one server each, and the command for ssh. ``server_url`` is GitHub's, without a slash at its end."""

    headers: tuple[Pair, ...] = ()
    ssh_command: str = ""
    server_url: str = ""

    def for_git(self) -> list[Pair]:
        """Return config for a git call. An empty value ends the list so far, so that no header is sent twice."""
        resets = [(key, "") for key in dict(self.headers)]
        return [*resets, *self.headers, *([("core.sshCommand", self.ssh_command)] if self.ssh_command else [])]

    def for_submodules(self) -> list[Pair]:
        """Return config for clones of their own, with which an ssh address of the same server needs no key."""
        server = urlsplit(self.server_url)
        if self.ssh_command or not any(_reaches(key, self.server_url) for key, _ in self.headers):
            return self.for_git()
        rewrite = f"url.{self.server_url}/.insteadOf"
        return [*self.for_git(), (rewrite, f"git@{server.hostname}:"), (rewrite, f"ssh://git@{server.hostname}/")]

    def unseen(self, visible: Iterable[Pair]) -> list[Pair]:
        """Return what a directory's own config lacks: git-lfs sends each header as often as it is listed."""
        seen = set(visible)
        return [pair for pair in self.headers if pair not in seen]


def resolve(listed: Sequence[Pair], *, token: str | None, server_url: str) -> Credentials:
    """Return the checkout's own credentials; ``token`` only where it has none for that server.

    A header for every server is not handed on: a pull request may name any server in .gitmodules or .lfsconfig.
    """
    server_url = server_url.rstrip("/")
    headers = _effective([pair for pair in listed if pair[0].endswith("extraheader")])
    own = [pair for pair in headers if pair[0].lower().startswith(("http.https://", "http.http://"))]
    if token and not any(_reaches(key, server_url) for key, _ in headers):
        own.append(_header(token, server_url))
    commands = [value for key, value in listed if key == "core.sshcommand"]
    return Credentials(tuple(own), commands[-1] if commands else "", server_url)


def is_refused(complaint: str) -> bool:
    """Check whether the server answered that a right is missing, rather than that something is not there."""
    return bool(_REFUSED.search(complaint))


def _effective(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs that count: an empty value takes back what stood under its key before."""
    kept: list[Pair] = []
    for key, value in pairs:
        kept = [*kept, (key, value)] if value else [pair for pair in kept if pair[0] != key]
    return kept


def _reaches(key: str, server_url: str) -> bool:
    """Whether a header's key is about this server, or about all."""
    url = key.removeprefix("http.").removesuffix("extraheader").rstrip(".").rstrip("/").lower()
    server = server_url.lower()
    return not url or url == server or url.startswith(f"{server}/")


def _header(token: str, server_url: str) -> Pair:
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return f"http.{server_url}/.extraheader", f"AUTHORIZATION: basic {basic}"
