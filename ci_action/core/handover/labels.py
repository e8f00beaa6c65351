"""Which reports of other jobs are parts of this one: by what each says of itself, and by the name that it came under.

A pattern cannot tell the shards of one package from those of another whose artifact-name begins alike, so that a report
carries its working directory, its artifact's name and its shard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ci_action.core.handover.shards import Shard, artifact_name, parse_shard
from ci_action.errors import ConfigError, EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a job's report is a part of. ``shard`` is None where the job measured everything."""

    artifact_name: str
    working_directory: str
    shard: Shard | None

    @property
    def name(self) -> str:
        """The name under which the report is uploaded."""
        return artifact_name(self.artifact_name, self.shard)

    def as_document(self) -> dict[str, str]:
        """Return it for a file."""
        shard = f"{self.shard.number}/{self.shard.of}" if self.shard else ""
        return {"artifact_name": self.artifact_name, "working_directory": self.working_directory, "shard": shard}


def read_label(document: Any) -> Label:
    """Read it back. Raises EvidenceError."""
    if not isinstance(document, dict) or not all(isinstance(document.get(key), str) for key in _KEYS):
        raise EvidenceError("it does not say what it is a part of")
    try:
        shard = parse_shard(document["shard"])
    except ConfigError as error:
        raise EvidenceError("it does not say which shard it is") from error
    return Label(artifact_name=document["artifact_name"], working_directory=document["working_directory"], shard=shard)


_KEYS = ("artifact_name", "working_directory", "shard")


def parts_of(own: Label, found: Mapping[str, Label], names: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Choose the reports to join, by their keys in ``found``, and say of each other one why it is left out.

    ``names``: under which name a report came, where it came under one. Of several splits the one with the most shards
    counts: a run that was started again with another number of them leaves both. A shard that is there twice is joined
    twice, and where both differ that is found then.
    """
    left_out: list[str] = []
    splits: dict[int, list[str]] = {}
    for key, label in found.items():
        if reason := _reason(own, label, names.get(key)):
            left_out.append(f"{key} is not joined: {reason}")
        elif label.shard is not None:
            splits.setdefault(label.shard.of, []).append(key)
    chosen = max(splits, key=lambda of: (len({found[key].shard for key in splits[of]}), of), default=0)
    others = [key for of, keys in splits.items() if of != chosen for key in keys]
    return splits.get(chosen, []), [*left_out, *(f"{key} is not joined: it is of another split" for key in others)]


def _reason(own: Label, label: Label, name: str | None) -> str:
    if label.working_directory != own.working_directory:
        return f"it measured {label.working_directory!r}, and this job is about {own.working_directory!r}"
    if label.artifact_name != own.artifact_name:
        return f"its artifact-name is {label.artifact_name!r}, and this job's is {own.artifact_name!r}"
    if label.shard is None:
        return "it is no shard"
    return f"it came as another artifact than {label.name!r}" if name not in {None, label.name} else ""


def listed(sentences: Sequence[str], most: int = 5) -> str:
    """Write some sentences as one, and count the rest."""
    more = f"; and {len(sentences) - most} more" if len(sentences) > most else ""
    return "; ".join(sentences[:most]) + more
