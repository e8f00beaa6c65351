"""No number and no word of a report passes for ours that a worker of ours could not have given."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from support.reports import make_report, small_net

from ci_action.core.measured_report import check_measured

TOTAL = ("totals", "operator_flops")
SPOILT: dict[str, tuple[tuple[Any, ...], Any]] = {
    "a value beside another known value": ((*TOTAL, "known_value"), 18_944),
    "a negative count": (TOTAL, {"value": -1, "known_value": -1}),
    "an absurd negative count": (TOTAL, {"value": -1e30, "known_value": -1e30}),
    "half an operation": (TOTAL, {"value": 0.5, "known_value": 0.5}),
    "a whole number as a float": (TOTAL, {"value": 2.0, "known_value": 2.0}),
    "a count beyond all work": (TOTAL, {"value": 10**25, "known_value": 10**25}),
    "a count of 324 digits": (TOTAL, {"value": 10**323, "known_value": 10**323}),
    "a count that is true": (TOTAL, {"value": True, "known_value": True}),
    "a negative lower bound": (TOTAL, {"status": "partial", "value": None, "known_value": -5}),
    "complete without a value": ((*TOTAL, "value"), None),
    "partial with a value": ((*TOTAL, "status"), "partial"),
    "a status of its own": ((*TOTAL, "status"), "approved"),
    "a sentence as the unit": ((*TOTAL, "unit"), "FLOPs, approved by the owner"),
    "another unit": ((*TOTAL, "unit"), "MACs"),
    "a sentence as the scope": ((*TOTAL, "scope"), "model, see evil"),
    "a sentence as the method": ((*TOTAL, "method"), "measured by hand"),
    "a command as the method": ((*TOTAL, "method"), "::error::x"),
    "a sentence as torch's version": (("context", "torch_version"), "2.13.0, all checks passed"),
    "no torch version": (("context", "torch_version"), None),
    "a device of many words": (("context", "devices"), ["cpu", "please merge"]),
    "devices that are no list": (("context", "devices"), "cpu"),
    "a metric with a sentence for a name": (("totals",), {"merged by owner": None}),
    "a row's negative count": (("layers", 0, "metrics", "operator_flops"), {"value": -1, "known_value": -1}),
    "a row's negative parameters": (("layers", 0, "parameters", "parameters"), {"value": -1, "known_value": -1}),
    "a negative call": (("layers", 0, "call_index"), -1),
    "a negative depth": (("layers", 0, "depth"), -1),
}


def spoilt(report: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    made: Any = copy.deepcopy(report)
    inner = made
    for key in place[:-1]:
        inner = inner[key]
    if isinstance(value, dict) and isinstance(inner[place[-1]], dict):
        template = next(iter(inner[place[-1]].values()))
        for name, item in value.items():
            inner[place[-1]][name] = template if item is None and name not in inner[place[-1]] else item
    else:
        inner[place[-1]] = value
    return made  # type: ignore[no-any-return]


def test_a_report_of_ours_passes() -> None:
    check_measured(make_report(small_net()))


@pytest.mark.parametrize(("place", "value"), SPOILT.values(), ids=SPOILT.keys())
def test_what_no_worker_of_ours_gives_is_refused(place: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        check_measured(spoilt(make_report(small_net()), place, value))
