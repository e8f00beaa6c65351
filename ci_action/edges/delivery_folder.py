"""What ``receive`` has proven, kept for the publishing step of the same job. No foreign code runs between the two."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ci_action.core.event import PullRequest
from ci_action.core.handover.delivery import Delivery
from ci_action.core.handover.producing_run import ProducingRun
from ci_action.core.handover.received_evidence import Received
from ci_action.core.plan import Commits
from ci_action.core.strict_json import JsonLimits, parse_json
from ci_action.edges.recorded import RecordedRepository
from ci_action.edges.untrusted_file import read_untrusted
from ci_action.errors import EvidenceError

if TYPE_CHECKING:
    from pathlib import Path

FILE = "delivery.json"
OWN = JsonLimits(size_bytes=256 << 20, items=30_000_000, string_length=1 << 20)


def write_delivery(folder: Path, delivery: Delivery, recorded: RecordedRepository, first_run_at: str) -> None:
    """Keep a delivery, the files that were read for it, and when its head was first run."""
    document = {
        **asdict(delivery),
        **recorded.as_document(),
        "first_run_at": first_run_at,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps(document, allow_nan=False), encoding="utf-8")


def read_delivery(folder: Path) -> tuple[Delivery, RecordedRepository, str]:
    """Read it back. Raises EvidenceError."""
    try:
        document: Any = parse_json(read_untrusted(folder / FILE, OWN.size_bytes), OWN)
        delivery = Delivery(
            run=ProducingRun(**document["run"]),
            pull=PullRequest(**document["pull"]),
            commits=Commits(**document["commits"]),
            received=Received(**document["received"]),
            full_reports=tuple(document["full_reports"]),
        )
        return delivery, RecordedRepository.of_document(document), str(document["first_run_at"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise EvidenceError("nothing was received: run `torchscan-ci receive` first") from error
