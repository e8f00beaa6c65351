"""Numbers as text. Every expected string was worked out by hand from the rules of the module's docstring.

``_`` stands for the no-break space in the tables.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchscan.render import units
from torchscan.report.metric import complete, partial, unavailable

MIB = 1024**2
GIB = 1024**3


def spaced(expected: str) -> str:
    return expected.replace("_", units.NBSP)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        # counts: exact below 10,000, then four significant digits
        (0, "FLOPs", "0"),
        (1, "FLOPs", "1"),
        (224, "parameters", "224"),
        (999, "MACs", "999"),
        (1000, "MACs", "1,000"),
        (9_999, "DMAs", "9,999"),
        (10_000, "DMAs", "10.00_k"),
        (65_536, "parameters", "65.54_k"),
        (99_994, "FLOPs", "99.99_k"),
        (99_996, "FLOPs", "100.0_k"),
        (194_400, "MACs", "194.4_k"),
        (787_456, "parameters", "787.5_k"),
        (999_949, "FLOPs", "999.9_k"),
        (999_951, "FLOPs", "1.000_M"),
        (1_000_000, "FLOPs", "1.000_M"),
        (25_557_032, "parameters", "25.56_M"),
        (618_000_000, "FLOPs", "618.0_M"),
        (999_960_000, "FLOPs", "1.000_G"),
        (4_096_000_000, "FLOPs", "4.096_G"),
        (9_999_600_000, "FLOPs", "10.00_G"),
        (1_500_000_000_000, "FLOPs", "1.500_T"),
        (2**63, "FLOPs", "9.223_E"),
        (10**21, "FLOPs", "1.000_Z"),
        (10**27, "FLOPs", "1000_Y"),
        (10**40, "FLOPs", "1.000e40"),
        (-5, "elements", "−5"),
        (-12_345, "elements", "−12.35_k"),
        (1.5, "elements", "1.5"),
        (2.0, "elements", "2"),
        (0.123456, "elements", "0.1235"),
        (-0.0, "elements", "0"),
        # bytes: exact below 1 KiB, then IEC
        (0, "bytes", "0_B"),
        (1, "bytes", "1_B"),
        (1023, "bytes", "1,023_B"),
        (1024, "bytes", "1.000_KiB"),
        (98_816, "bytes", "96.50_KiB"),
        (1_048_064, "bytes", "1.000_MiB"),  # 1023.5 KiB rounds to 1024
        (1_047_000, "bytes", "1022_KiB"),
        (44_089_344, "bytes", "42.05_MiB"),
        (101_204_992, "bytes", "96.52_MiB"),
        (GIB, "bytes", "1.000_GiB"),
        (140 * GIB, "bytes", "140.0_GiB"),
        (3 * 1024**4, "bytes", "3.000_TiB"),
        # seconds: four digits, ns to s
        (0, "seconds", "0_s"),
        (0.0, "seconds", "0_s"),
        (1e-12, "seconds", "0.001000_ns"),
        (1.5e-9, "seconds", "1.500_ns"),
        (6.1e-6, "seconds", "6.100_µs"),
        (999.96e-6, "seconds", "1.000_ms"),
        (12.41e-3, "seconds", "12.41_ms"),
        (0.9999, "seconds", "999.9_ms"),
        (1.0, "seconds", "1.000_s"),
        (75, "seconds", "75.00_s"),
        (1234.5, "seconds", "1234_s"),
        # rates keep their unit
        (0, "calls/s", "0_calls/s"),
        (0.4213, "calls/s", "0.4213_calls/s"),
        (164.25, "samples/s", "164.2_samples/s"),
        (1523.4, "samples/s", "1.523_k_samples/s"),
        (2.5e6, "tokens/s", "2.500_M_tokens/s"),
        (3 * MIB, "bytes/s", "3.000_MiB/s"),
    ],
)
def test_text(value: float, unit: str, expected: str) -> None:
    assert units.text(value, unit) == spaced(expected)


@pytest.mark.parametrize(
    ("value", "neighbours", "unit", "expected"),
    [
        (10**9, (618_000_000,), "parameters", "1000_M"),
        (618_000_000, (10**9,), "parameters", "618.0_M"),
        (9_500, (12_000,), "FLOPs", "9.500_k"),  # 12,000 has no room in the smaller prefix
        (5_000_000, (999_000,), "FLOPs", "5000_k"),
        (50_000_000, (999_000,), "FLOPs", "50.00_M"),
        (999_000, (50_000_000,), "FLOPs", "0.9990_M"),
        (500, (9_000_000,), "FLOPs", "500"),  # 18,000 times apart: a prefix each
        (500, (0,), "FLOPs", "500"),
        (0, (12_000_000,), "FLOPs", "0"),
        (1024, (512,), "bytes", "1024_B"),
        (1.5e-3, (900e-6,), "seconds", "1500_µs"),
    ],
)
def test_neighbours_share_a_prefix(value: float, neighbours: tuple[float, ...], unit: str, expected: str) -> None:
    assert units.text(value, unit, like=neighbours) == spaced(expected)


@pytest.mark.parametrize(
    ("value", "neighbours", "expected"),
    [(10**9, (618_000_000,), "1000_M"), (5_000_000, (3_770_000,), "5_M"), (0, (7,), "0"), (2_500, (), "2,500")],
)
def test_a_cap_has_no_padding_and_the_prefix_of_its_value(value: int, neighbours: tuple[int], expected: str) -> None:
    assert units.cap(value, "parameters", like=neighbours) == spaced(expected)


@pytest.mark.parametrize(
    ("before", "after", "unit", "expected"),
    [
        (8_178_000_000, 9_000_000_000, "FLOPs", ("8.178_G", "9.000_G")),
        (50_223_688, 50_227_784, "parameters", ("50.22_M", "50.23_M")),
        (50_223_688, 50_224_688, "parameters", ("50.224_M", "50.225_M")),  # five digits tell them apart
        (50_223_688, 50_223_689, "parameters", ("50,223,688", "50,223,689")),
        (7, 7, "FLOPs", ("7", "7")),
        (10**9, 10**9, "FLOPs", ("1.000_G", "1.000_G")),
        (999_960, 1_000_100, "FLOPs", ("999.96_k", "1000.1_k")),
        (100, 10**9, "FLOPs", ("100", "1.000_G")),
        (0, 5, "bytes", ("0_B", "5_B")),
        (388 * MIB, int(315.8 * MIB), "bytes", ("388.0_MiB", "315.8_MiB")),
        (12.41e-3, 13.02e-3, "seconds", ("12.41_ms", "13.02_ms")),
        (2**63, 2**63 + 1, "FLOPs", ("9,223,372,036,854,775,808", "9,223,372,036,854,775,809")),
    ],
)
def test_unequal_numbers_never_print_alike(before: float, after: float, unit: str, expected: tuple[str, str]) -> None:
    assert units.pair(before, after, unit) == tuple(map(spaced, expected))


@given(st.integers(0, 2**63), st.integers(-5, 5), st.sampled_from(["FLOPs", "bytes", "calls/s"]))
def test_pair_tells_every_two_numbers_apart(before: int, step: int, unit: str) -> None:
    after = max(0, before + step)

    left, right = units.pair(before, after, unit)

    assert (left == right) is (before == after)


@pytest.mark.parametrize(
    ("before", "after", "unit", "expected"),
    [
        (8_178_000_000, 9_000_000_000, "FLOPs", "+822_M"),
        (25_560_000, 33_950_000, "parameters", "+8.39_M"),
        (50_223_688, 50_227_784, "parameters", "+4,096"),
        (5, 5, "FLOPs", "0"),
        (0.0, -0.0, "seconds", "0"),
        (388.0 * MIB, 315.8 * MIB, "bytes", "−72.2_MiB"),
        (2048, 1536, "bytes", "−512_B"),
        (0, 999_960, "FLOPs", "+1.00_M"),
        (12.41e-3, 13.02e-3, "seconds", "+610_µs"),
        (10, 12.5, "calls/s", "+2.50_calls/s"),
    ],
)
def test_delta(before: float, after: float, unit: str, expected: str) -> None:
    assert units.delta(before, after, unit) == spaced(expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (8_178, 9_000, "+10.1%"),
        (388, 315.8, "−18.6%"),
        (50_223_688, 50_227_784, "+0.0082%"),
        (1000, 1005, "+0.50%"),
        (1000, 1009.96, "+1.0%"),
        (100, 240, "×2.4"),
        (100, 200, "×2.0"),
        (100, 199.97, "×2.0"),
        (100, 199.9, "+99.9%"),
        (100, 1000, "×10"),
        (1, 1234, "×1,234"),
        (100, 0, "−100.0%"),
        (10_000, 1, "−99.9%"),
        (0, 5, "was 0"),
        (0, 0, "0%"),
        (7, 7, "0%"),
        (-3, 5, "n/a"),
    ],
)
def test_percent(before: float, after: float, expected: str) -> None:
    assert units.percent(before, after) == expected


@pytest.mark.parametrize(
    ("point", "low", "high", "expected"),
    [
        (0.049, 0.034, 0.064, "+4.9% [+3.4, +6.4]"),
        (0.0, -0.010, 0.011, "0.0% [−1.0, +1.1]"),
        (-0.0001, -0.0004, 0.0004, "0.0% [0.0, 0.0]"),
    ],
)
def test_interval(point: float, low: float, high: float, expected: str) -> None:
    assert units.interval(point, low, high) == expected


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [(1, 8, "12.5%"), (8, 8, "100.0%"), (1, 10**6, "<_0.1%"), (0, 5, "0%"), (0, 0, "—"), (5, 10_000, "0.1%")],
)
def test_share(part: int, whole: int, expected: str) -> None:
    assert units.share(part, whole) == spaced(expected)


@pytest.mark.parametrize(
    ("median", "iqr", "expected"),
    [
        (6.123e-6, 0.87e-6, ("6.12_µs", "0.87_µs")),
        (12.41e-3, 4e-3, ("12.4_ms", "4.0_ms")),
        (12.41e-3, 1e-6, ("12.41_ms", "<_0.01_ms")),
        (12.41e-3, 0.0, ("12.41_ms", "0.00_ms")),
        (1.5, 20.0, ("2_s", "20_s")),
    ],
)
def test_a_time_is_cut_where_its_spread_ends(median: float, iqr: float, expected: tuple[str, str]) -> None:
    assert units.timing(median, iqr) == tuple(map(spaced, expected))


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (4096, "FLOPs", "4,096"),
        (44_089_344, "bytes", "44,089,344_B"),
        (0.012410001, "seconds", "0.012410001_s"),
        (3.0, "elements", "3"),
        (-4, "elements", "−4"),
        (2.5, "samples/s", "2.5_samples/s"),
    ],
)
def test_exact(value: float, unit: str, expected: str) -> None:
    assert units.exact(value, unit) == spaced(expected)


OF_MODEL = {"unit": "FLOPs", "scope": "model", "method": "m"}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (complete(4_096_000_000, **OF_MODEL), "4.096_G"),
        (complete(0, **OF_MODEL), "0"),
        (partial(3_871_000_000, **OF_MODEL), "≥_3.871_G"),
        (partial(0, **OF_MODEL), "≥_0"),
        (unavailable(**OF_MODEL), "—"),
        (None, "—"),
    ],
)
def test_a_metric_shows_its_status(result: object, expected: str) -> None:
    assert units.metric(result) == spaced(expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (complete(4_096_000_000, **OF_MODEL), partial(3_871_000_000, **OF_MODEL), ("4.096_G", "≥_3.871_G")),
        (complete(50_223_688, **OF_MODEL), complete(50_223_689, **OF_MODEL), ("50,223,688", "50,223,689")),
        (complete(5, **OF_MODEL), unavailable(**OF_MODEL), ("5", "—")),
        (None, complete(618_000_000, **OF_MODEL), ("absent", "618.0_M")),
        (complete(5, **OF_MODEL), None, ("5", "absent")),
    ],
)
def test_two_sides_of_a_metric(before: object, after: object, expected: tuple[str, str]) -> None:
    assert units.metric_pair(before, after) == tuple(map(spaced, expected))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("≥_3.871_G", ">= 3.871 G"),
        ("—", "-"),
        ("−72.2_MiB", "-72.2 MiB"),
        ("×2.4", "x2.4"),
        ("6.100_µs", "6.100 us"),
        ("1_G → 2_G", "1 G -> 2 G"),
        ("0…11", "0..11"),
    ],
)
def test_signs_have_ascii_stand_ins(written: str, expected: str) -> None:
    assert units.ascii_text(spaced(written)) == expected
    assert units.ascii_text(spaced(written)).isascii()
