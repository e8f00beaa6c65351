from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ci_action.core.timing.wilcoxon import estimate_shift, p_above, two_sided_p, walsh_averages

differences = st.lists(st.integers(-10_000, 10_000), min_size=6, max_size=14, unique_by=abs).filter(
    lambda d: 0 not in d
)


def test_the_estimate_is_the_median_of_the_walsh_averages() -> None:
    # 1, 2, 6 have the averages 1, 1.5, 2, 3.5, 4, 6: the median is (2 + 3.5) / 2
    assert walsh_averages([1, 2, 6]) == [1, 1.5, 2, 3.5, 4, 6]
    shift = estimate_shift([1, 2, 6], 0.5)
    assert shift is not None
    assert shift.estimate == 2.75


def test_six_pairs_of_one_sign_reach_one_thirty_second() -> None:
    # of 2^6 patterns of signs, two have all of one sign
    assert two_sided_p([1, 2, 3, 4, 5, 6]) == 2 / 64
    assert p_above([1, 2, 3, 4, 5, 6], 0) == 2 / 64


def test_six_pairs_give_their_range_as_the_interval_and_five_give_none() -> None:
    shift = estimate_shift([5.0, 1.0, 3.0, 2.0, 8.0, 4.0], 0.05)
    assert shift is not None
    assert (shift.low, shift.high) == (1.0, 8.0)
    assert estimate_shift([1.0, 2.0, 3.0, 4.0, 5.0], 0.05) is None


@given(differences)
def test_p_values_are_scipys(values: list[int]) -> None:
    plain = [float(value) for value in values]
    assert two_sided_p(plain) == pytest.approx(stats.wilcoxon(plain, method="exact").pvalue)
    above = stats.wilcoxon(plain, method="exact", alternative="greater").pvalue
    assert p_above(plain, 0) == pytest.approx(min(1, 2 * above))


def test_ten_pairs_cut_eight_averages_at_either_end() -> None:
    # tables of the signed-rank statistic: n=10, two-sided 5%: critical value 8
    values = [random.Random(3).gauss(0, 1) for _ in range(10)]
    ordered = walsh_averages(values)
    shift = estimate_shift(values, 0.05)
    assert shift is not None
    assert (shift.low, shift.high) == (ordered[8], ordered[-9])


@given(differences, st.integers(-100, 100), st.sampled_from([0.05, 0.025, 0.2]))
def test_the_interval_excludes_exactly_what_the_test_rejects(values: list[int], theta: int, level: float) -> None:
    shift = estimate_shift([float(value) for value in values], level)
    if shift is not None:
        assert (shift.low > theta) == (p_above(values, theta) <= level)


@given(differences)
def test_swapping_the_sides_negates(values: list[int]) -> None:
    shift = estimate_shift(values, 0.05)
    swapped = estimate_shift([-value for value in values], 0.05)
    assert shift is not None
    assert swapped == shift.negated()


@pytest.mark.parametrize("values", [[0.0] * 8, [1.0, -1.0] * 4, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
def test_ties_and_zeros_never_make_the_test_bolder(values: list[float]) -> None:
    # brute force over all signs of the values: a sign pattern is as extreme where its count of averages above 0 is
    count = sum(average > 0 for average in walsh_averages(values))
    patterns = list(product((-1, 1), repeat=len(values)))
    as_extreme = sum(
        sum(average > 0 for average in walsh_averages([s * v for s, v in zip(signs, values, strict=True)])) >= count
        for signs in patterns
    )
    assert p_above(values, 0) >= min(1, 2 * as_extreme / len(patterns)) - 1e-12


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        shift = estimate_shift(rng.standard_t(3, 10).tolist(), 0.05)
        assert shift is not None
        covered += shift.low <= 0 <= shift.high
    # exact coverage 1 - 2 * 25/1024 = 0.951; four standard errors are 0.027
    assert 0.924 < covered / 1000 < 0.978


@pytest.mark.parametrize("values", [[], [float("nan")], [float("inf"), 1.0]])
def test_what_is_no_difference_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        walsh_averages(values)
