from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchscan.report.blocks import quantile, summarize_blocks


def test_blocks_are_divided_by_their_calls() -> None:
    # given per-call seconds 1, 2, 3, 4: median 2.5, quartiles 1.75 and 3.25
    blocks = summarize_blocks([10.0, 40.0, 30.0, 20.0], number_per_run=10)
    assert (blocks.median_seconds, blocks.iqr_seconds) == (2.5, 1.5)


def test_one_value_is_its_own_quantile() -> None:
    assert quantile([7.0], 0.25) == 7.0


def test_no_value_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="at least one"):
        quantile([], 0.5)


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=30), st.floats(0, 1))
def test_quantiles_are_numpys(values: list[float], fraction: float) -> None:
    assert quantile(values, fraction) == pytest.approx(float(np.quantile(values, fraction)), rel=1e-9)
