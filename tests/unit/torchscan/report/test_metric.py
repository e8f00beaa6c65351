"""A MetricResult cannot be built in an illegal state, and adding never invents certainty."""

from __future__ import annotations

import math

import pytest

from torchscan.report.metric import complete, partial, total, unavailable

HOW = {"unit": "FLOPs", "scope": "model", "method": "m"}


def test_complete_value_equals_known_value():
    assert complete(7, **HOW) == {"status": "complete", "value": 7, "known_value": 7, **HOW}


def test_partial_has_a_bound_and_no_value():
    assert partial(7, **HOW) == {"status": "partial", "value": None, "known_value": 7, **HOW}


def test_unavailable_has_no_number():
    assert unavailable(**HOW) == {"status": "unavailable", "value": None, "known_value": None, **HOW}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, True, "7", None])
@pytest.mark.parametrize("build", [complete, partial])
def test_only_finite_numbers_are_measured(build, number):
    with pytest.raises(ValueError, match="finite"):
        build(number, **HOW)


@pytest.mark.parametrize(
    ("parts", "status", "known"),
    [
        ([], "complete", 0),
        ([complete(2, **HOW), complete(3, **HOW)], "complete", 5),
        ([complete(2, **HOW), partial(3, **HOW)], "partial", 5),
        ([complete(2, **HOW), unavailable(**HOW)], "partial", 2),
        ([partial(0, **HOW)], "partial", 0),
        ([unavailable(**HOW)], "unavailable", None),
    ],
)
def test_total_is_as_certain_as_its_weakest_part(parts, status, known):
    result = total(parts, **HOW)
    assert (result["status"], result["known_value"]) == (status, known)
