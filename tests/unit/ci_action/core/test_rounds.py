from __future__ import annotations

from math import log
from typing import Any

import pytest

from ci_action.core.timing.rounds import block_order, log_ratios, read_round
from ci_action.errors import EvidenceError

ROUND: dict[str, Any] = {
    "kind": "pair",
    "order": "ABBAAB",
    "calls_per_block": 2,
    "a_seconds": [2.0, 2.0, 2.0],
    "b_seconds": [4.0, 2.0, 20.0],
}


def test_a_pairs_value_is_the_median_of_its_blocks() -> None:
    pair = read_round(ROUND)
    assert pair.a_seconds == (1.0, 1.0, 1.0)
    assert pair.log_ratio == pytest.approx(log(2))
    assert pair.swapped().log_ratio == pytest.approx(-log(2))


def test_either_side_comes_first_equally_often() -> None:
    assert block_order(4, starts_with_a=True) == "ABBAABBA"
    assert block_order(3, starts_with_a=False) == "BAABBA"
    for blocks in range(1, 9):
        assert block_order(blocks, starts_with_a=True).count("A") == blocks


def test_kinds_are_kept_apart() -> None:
    assert len(log_ratios([ROUND, {**ROUND, "kind": "control"}, ROUND], "control")) == 1  # type: ignore[list-item]


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "trial"},
        {"order": "ABBAA"},
        {"order": "ABBAAC"},
        {"order": 3},
        {"calls_per_block": 0},
        {"calls_per_block": True},
        {"a_seconds": []},
        {"a_seconds": [1.0, 1.0]},
        {"b_seconds": [1.0, 0.0, 1.0]},
        {"b_seconds": [1.0, float("nan"), 1.0]},
        {"b_seconds": [1.0, "1", 1.0]},
        {"extra": 1},
    ],
)
def test_a_round_that_contradicts_itself_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError):
        read_round({**ROUND, **broken})
