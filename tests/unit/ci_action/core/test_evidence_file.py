from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest
from support.rounds import Machine, evidence

from ci_action.core.timing.evidence_file import read_evidence
from ci_action.errors import EvidenceError

PEAK = {
    "device": "cpu",
    "metric": "pytorch_tensor_bytes",
    "baseline_bytes": 1,
    "peak_bytes": 2,
    "delta_bytes": 1,
}


def sound() -> dict[str, Any]:
    found: Any = evidence(
        Machine().rounds(random.Random(0), 2),
        machine=[{"load": 0.5, "steal_share": None, "frequency_hertz": None}],
        failure={"side": "head", "round": 1, "failure": {"stage": "x", "type": "x", "message": "x", "frames": []}},
    )
    found["base"] = {**found["base"], "memory": [PEAK], "rss_bytes": [1]}
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def test_what_a_run_wrote_is_read_back_as_it_is() -> None:
    assert read_evidence(sound()) == sound()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["version"], 2),
        (["id"], 3),
        (["seed"], "0"),
        (["mode"], "duet"),
        (["planned_pairs"], -1),
        (["rounds"], {}),
        (["rounds", 0, "a_seconds", 0], -1.0),
        (["base", "context", "work_units"], 0),
        (["base", "context", "work_units"], True),
        (["base", "first_call_seconds"], [0.0]),
        (["base", "rss_bytes"], [1.5]),
        (["base", "memory", 0, "peak_bytes"], "2"),
        (["base", "memory", 0, "metric"], None),
        (["base", "inputs"], "x"),
        (["output_check", "verdict"], "maybe"),
        (["output_check", "message"], 1),
        (["machine", 0, "load"], "high"),
        (["failure", "side"], "both"),
        (["failure", "failure", "type"], None),
        (["notes"], [1]),
    ],
)
def test_anything_else_is_refused(path: list[Any], value: Any) -> None:
    broken = sound()
    place = broken
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(EvidenceError):
        read_evidence(broken)


@pytest.mark.parametrize("path", [[], ["base"], ["base", "context"], ["output_check"], ["failure"], ["machine", 0]])
def test_a_missing_or_a_further_key_is_refused(path: list[Any]) -> None:
    for change in ("less", "more"):
        broken = deepcopy(sound())
        place = broken
        for key in path:
            place = place[key]
        if change == "less":
            del place[next(iter(place))]
        else:
            place["further"] = 1
        with pytest.raises(EvidenceError):
            read_evidence(broken)
