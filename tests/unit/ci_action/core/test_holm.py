from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_action.core.timing.holm import holm_levels


def test_steps_go_up_until_one_is_not_rejected() -> None:
    # 0.01 <= 0.05/4; 0.012 <= 0.05/3; 0.03 > 0.05/2 ends it, and 0.04 keeps that level
    assert holm_levels([0.03, 0.01, 0.04, 0.012], 0.05) == pytest.approx([0.025, 0.0125, 0.025, 0.05 / 3])


def test_one_test_keeps_the_whole_budget() -> None:
    assert holm_levels([0.9], 0.05) == [0.05]
    assert holm_levels([], 0.05) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_rejections_are_those_of_the_adjusted_p_values(p_values: list[float]) -> None:
    # the textbook form: sorted p_i times (k - i), made monotone by a running maximum, against alpha
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, running = {}, 0.0
    for step, index in enumerate(order):
        running = max(running, p_values[index] * (len(p_values) - step))
        adjusted[index] = running
    levels = holm_levels(p_values, 0.05)
    for index, p_value in enumerate(p_values):
        if abs(adjusted[index] - 0.05) > 1e-12:
            assert (p_value <= levels[index]) == (adjusted[index] <= 0.05)
