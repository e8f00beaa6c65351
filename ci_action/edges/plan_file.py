"""What ``plan`` decided and read, in one file whose digest the later steps have from the runner.

``plan`` runs before any code of the pull request. From then on everything that was read of the event and of git is read
here, and neither is asked again: measured code could have rewritten the event's file, a reference, an object or this
file. The runner holds step outputs in its own memory, so the file counts where its digest is the one that plan told.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from ci_action.core.event import PullRequest
from ci_action.core.plan import Commits
from ci_action.core.strict_json import JsonLimits, parse_json
from ci_action.core.trigger import Trigger
from ci_action.edges.recorded import RecordedRepository
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE = "plan.json"
VERSION = 1
LIMITS = JsonLimits(size_bytes=64 << 20, items=4_000_000, string_length=2 << 20)
"""Two configs of at most 1 MiB each, and the paths that differ."""
DIGEST = "TORCHSCAN_PLAN_DIGEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPlan:
    """The chosen commits, what the event says, and the files and paths that were read for it."""

    commits: Commits
    problem: str
    """Why base cannot be had, where that is so."""
    working_directory: str
    pull_request: PullRequest | None
    trigger: Trigger | None
    repository: RecordedRepository


def write_plan(folder: Path, plan: RecordedPlan) -> str:
    """Write the file into ``folder`` and return its digest."""
    document = {
        "version": VERSION,
        "commits": asdict(plan.commits),
        "problem": plan.problem,
        "working_directory": plan.working_directory,
        "pull_request": asdict(plan.pull_request) if plan.pull_request else None,
        "trigger": asdict(plan.trigger) if plan.trigger else None,
        **plan.repository.as_document(),
    }
    data = json.dumps(document, allow_nan=False).encode("ascii")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def read_plan(folder: Path, environ: Mapping[str, str]) -> RecordedPlan:
    """Read it back. On a runner it must be the very file that plan wrote. Raises EvidenceError."""
    try:
        data = read_untrusted(folder / FILE, LIMITS.size_bytes)
    except FileNotFoundError as error:
        raise EvidenceError(f"there is no {FILE} in {folder}: run `torchscan-ci plan` first") from error
    except OSError as error:
        raise EvidenceError(f"{folder / FILE} cannot be read: {error.strerror}") from error
    check_digest(data, environ, DIGEST, f"{FILE} is not what `plan` wrote")
    try:
        document: Any = parse_json(data, LIMITS)
        pull, trigger = document["pull_request"], document["trigger"]
        if document["version"] != VERSION or set(document["commits"]) != {item.name for item in fields(Commits)}:
            raise EvidenceError(f"{FILE} is of another version: run `torchscan-ci plan` again")
        return RecordedPlan(
            commits=Commits(**document["commits"]),
            problem=str(document["problem"]),
            working_directory=str(document["working_directory"]),
            pull_request=PullRequest(**pull) if pull else None,
            trigger=Trigger(**trigger) if trigger else None,
            repository=RecordedRepository.of_document(document),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"{FILE} is not a plan: run `torchscan-ci plan` again") from error


def check_digest(data: bytes, environ: Mapping[str, str], name: str, problem: str) -> None:
    """Hold data against the digest that an earlier step told the runner. Off a runner there is none to ask for.

    Raises EvidenceError.
    """
    if environ.get("GITHUB_ACTIONS") != "true":
        return
    told = environ.get(name, "")
    if hashlib.sha256(data).hexdigest() != told:
        why = "its digest differs" if told else f"the step was not given its digest ({name})"
        raise EvidenceError(f"{problem}: {why}, so nothing is judged by it")
