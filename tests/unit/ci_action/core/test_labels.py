"""Only reports of this package, of one split and under their own names are joined."""

from __future__ import annotations

from typing import Any

import pytest

from ci_action.core.handover.labels import Label, listed, parts_of, read_label
from ci_action.core.handover.shards import Shard
from ci_action.errors import EvidenceError

OWN = Label(artifact_name="torchscan", working_directory="packages/a", shard=None)


def label(number: int, of: int, **fields: Any) -> Label:
    given = {"artifact_name": "torchscan", "working_directory": "packages/a"} | fields
    return Label(**given, shard=Shard(number=number, of=of))


def joined(found: dict[str, Label], names: dict[str, str] | None = None) -> tuple[list[str], list[str]]:
    return parts_of(OWN, found, {key: key for key in found} if names is None else names)


def test_all_shards_of_one_split_are_joined() -> None:
    found = {"torchscan-1-of-2": label(1, 2), "torchscan-2-of-2": label(2, 2)}
    assert joined(found) == (list(found), [])


@pytest.mark.parametrize(
    ("name", "other", "why"),
    [
        ("torchscan-b-1-of-1", label(1, 1, artifact_name="torchscan-b"), "its artifact-name is 'torchscan-b'"),
        ("torchscan-1-of-1", label(1, 1, working_directory="packages/b"), "it measured 'packages/b'"),
        ("torchscan-1-of-1", label(1, 1, working_directory="."), "it measured '.'"),
        ("torchscan-1-of-2", label(1, 1), "it came as another artifact than 'torchscan-1-of-1'"),
        ("torchscan-01-of-1", label(1, 1), "it came as another artifact"),
        ("Torchscan-1-of-1", label(1, 1), "it came as another artifact"),
        ("torchscan-1-of-1 ", label(1, 1), "it came as another artifact"),
        ("torchscan-\u0661-of-1", label(1, 1), "it came as another artifact"),
        ("torchscan", Label(artifact_name="torchscan", working_directory="packages/a", shard=None), "it is no shard"),
    ],
)
def test_anything_else_is_left_out_and_named(name: str, other: Label, why: str) -> None:
    chosen, left_out = joined({name: other})
    assert chosen == []
    assert why in left_out[0]


def test_of_two_splits_the_one_with_more_shards_counts() -> None:
    older = {"torchscan-1-of-3": label(1, 3)}
    newer = {"torchscan-1-of-2": label(1, 2), "torchscan-2-of-2": label(2, 2)}
    chosen, left_out = joined({**older, **newer})
    assert chosen == list(newer)
    assert left_out == ["torchscan-1-of-3 is not joined: it is of another split"]


def test_a_folder_that_somebody_names_may_have_any_name() -> None:
    assert joined({"job-1": label(1, 1)}, names={}) == (["job-1"], [])


@pytest.mark.parametrize("document", [None, {}, {"artifact_name": 1}, {**OWN.as_document(), "shard": "3/2"}])
def test_a_report_that_does_not_say_what_it_is_part_of_is_refused(document: Any) -> None:
    with pytest.raises(EvidenceError, match="it does not say"):
        read_label(document)


def test_a_label_survives_its_file() -> None:
    assert read_label(label(2, 4).as_document()) == label(2, 4)
    assert read_label(OWN.as_document()) == OWN


def test_many_sentences_become_one() -> None:
    assert listed([str(number) for number in range(7)]) == "0; 1; 2; 3; 4; and 2 more"
