"""The action's inputs and the runner's own variables, read once from the environment."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ci_action.core.config.entries import CommentMode
from ci_action.core.event_file import parse_event
from ci_action.core.handover.producing_run import ProducingRun, parse_producing_run
from ci_action.core.handover.shards import MOST_SHARDS, parse_shard
from ci_action.core.modes import Mode, StatusKind
from ci_action.core.trigger import Trigger, parse_trigger
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.errors import ConfigError, EventError, EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ci_action.core.event import Event

PREFIX = "TORCHSCAN_"
COMMENT_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
TRUE, FALSE = {"true", "1", "yes", "on"}, {"false", "0", "no", "off", ""}
EVENT_BYTES = 32 << 20
WORDS: dict[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "comment": get_args(CommentMode),
    "status": get_args(StatusKind),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionInputs:
    """The inputs of action.yml: field ``api_url`` is input ``api-url`` is variable ``TORCHSCAN_API_URL``."""

    mode: Mode = "full"
    token: str = ""
    api_url: str = "https://api.github.com"
    python: str = "python"
    working_directory: str = "."
    base: str = ""
    comment: CommentMode | None = None
    comment_id: str = "default"
    require_comment: bool = False
    upload: bool = True
    artifact_name: str = "torchscan"
    status: StatusKind | None = None
    shards: int = 1
    shard: str = ""
    workflow: str = ".github/workflows/torchscan.yml"

    def __repr__(self) -> str:
        """Never show the token."""
        shown = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "token"}
        return f"ActionInputs({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def read_inputs(environ: Mapping[str, str]) -> ActionInputs:
    """Read the inputs. Raises ConfigError naming the input, what was found and what is accepted."""
    given = {item.name: environ.get(f"{PREFIX}{item.name.upper()}", "").strip() for item in fields(ActionInputs)}
    read: dict[str, Any] = {name: text for name, text in given.items() if text}
    for name in ("require_comment", "upload"):
        if name in read:
            read[name] = _flag(name, read[name])
    for name, words in WORDS.items():
        if name in read and read[name] not in words:
            raise ConfigError(f"input {name}: found {read[name][:60]!r}; accepted: {', '.join(words)}, or nothing")
    if "shards" in read:
        read["shards"] = _shards(read["shards"])
    parse_shard(read.get("shard", ""))
    if not COMMENT_ID.fullmatch(read.get("comment_id", "default")):
        raise ConfigError(
            f"input comment-id: found {read['comment_id'][:80]!r}; accepted: at most 64 of a-z, 0-9, '.', '_' and '-', "
            "first and last a letter or digit"
        )
    if "api_url" in read:
        read["api_url"] = _api_url(read["api_url"])
    return ActionInputs(**read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """What the Actions runner says of this run. All empty outside Actions."""

    is_actions: bool
    repository: str
    server_url: str
    sha: str
    event_name: str
    event_path: str
    run_id: int
    run_attempt: int
    workflow_path: str
    workspace: Path
    temp: Path


def read_runner(environ: Mapping[str, str]) -> Runner:
    """Read the runner's variables."""
    reference = environ.get("GITHUB_WORKFLOW_REF", "").partition("@")[0]  # owner/name/.github/workflows/x.yml@ref
    return Runner(
        is_actions=environ.get("GITHUB_ACTIONS") == "true",
        repository=environ.get("GITHUB_REPOSITORY", ""),
        server_url=environ.get("GITHUB_SERVER_URL", "") or "https://github.com",
        sha=environ.get("GITHUB_SHA", ""),
        event_name=environ.get("GITHUB_EVENT_NAME", ""),
        event_path=environ.get("GITHUB_EVENT_PATH", ""),
        run_id=_number(environ.get("GITHUB_RUN_ID", "")),
        run_attempt=_number(environ.get("GITHUB_RUN_ATTEMPT", "")) or 1,
        workflow_path="/".join(reference.split("/")[2:]) or environ.get("GITHUB_WORKFLOW", ""),
        workspace=Path(environ.get("GITHUB_WORKSPACE") or Path.cwd()),
        temp=Path(environ.get("RUNNER_TEMP") or tempfile.gettempdir()),
    )


def read_event(runner: Runner) -> Event:
    """Read the event that started this run. Raises EventError."""
    return parse_event(runner.event_name, _payload(runner), repository=runner.repository, sha=runner.sha)


def read_producing_run(runner: Runner) -> ProducingRun | str:
    """Read the run that a publishing run is about, or say why there is none. Raises EventError."""
    return parse_producing_run(runner.event_name, _payload(runner))


def read_trigger(runner: Runner) -> Trigger:
    """Read what the event says of itself. Raises EventError."""
    return parse_trigger(_payload(runner))


def _payload(runner: Runner) -> Any:
    if not runner.event_path:
        raise EventError("GITHUB_EVENT_PATH is not set: outside of Actions use `torchscan-ci run --base REVISION`")
    path = Path(runner.event_path)
    try:
        payload = json.loads(read_untrusted(path, EVENT_BYTES))
    except EvidenceError as error:
        raise EventError(f"the event file at GITHUB_EVENT_PATH cannot be read: {error}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise EventError(f"the event file at GITHUB_EVENT_PATH cannot be read: {type(error).__name__}") from error
    if not isinstance(payload, dict):
        raise EventError("the event file at GITHUB_EVENT_PATH holds no object")
    return payload


def is_interactive(environ: Mapping[str, str]) -> bool:
    """Whether a person looks at a terminal: no CI, no redirection."""
    return not environ.get("CI") and os.isatty(2)


def _flag(name: str, text: str) -> bool:
    if text.lower() in TRUE | FALSE:
        return text.lower() in TRUE
    raise ConfigError(f"input {name.replace('_', '-')}: found {text[:60]!r}; accepted: true or false")


def _shards(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= MOST_SHARDS:
        return int(text)
    raise ConfigError(f"input shards: found {text[:60]!r}; accepted: a whole number from 1 to {MOST_SHARDS}")


def _api_url(text: str) -> str:
    """HTTPS, or plain HTTP to this machine (tests, a local proxy)."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    local = parts.scheme == "http" and host in {"127.0.0.1", "localhost", "::1"}
    if not host or not (parts.scheme == "https" or local) or parts.username or parts.query or parts.fragment:
        raise ConfigError(f"input api-url: found {text[:100]!r}; accepted: an https URL such as https://api.github.com")
    return text.rstrip("/")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
