"""Workload and comparison pages: what they say, what they withhold, what they refuse."""

from __future__ import annotations

import re
from math import nextafter
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.markup import check_structure, elements
from support.measured import TIMES, make_benchmark

from torchscan.compare.benchmarks import compare_benchmarks
from torchscan.render.charts import MOST_DOTS, axis, side
from torchscan.render.document import render_report

SLOWER = [1.2 * seconds for seconds in TIMES]


def words(page: str) -> str:
    return re.sub(r"\s+", " ", " ".join(each.text for each in elements(page) if each.tag not in ("script", "style")))


def test_the_headline_is_median_spread_and_blocks() -> None:
    # 24 blocks over 1.00 to 1.10 ms: median 1.05 ms; quartiles by linear interpolation.
    text = words(render_report(make_benchmark()))

    assert re.search(r"1\.05\d?\sms per call, IQR 0\.0\d+\sms, 24 blocks\.", text)


def test_a_pass_that_was_not_asked_for_is_named() -> None:
    page = render_report(make_benchmark())

    assert re.findall(r"not requested</span>\s+(\w+)</li>", page) == ["RSS", "Profiler"]


def test_a_slower_head_is_worse_and_its_throughput_too() -> None:
    page = render_report(compare_benchmarks(make_benchmark(), make_benchmark(SLOWER), check=lambda: True))

    for label, arrow in (("Block median", "▲"), ("Throughput", "▼")):
        card = page.partition(f"{label}</h3>")[2].split("</li>", maxsplit=1)[0]
        assert 'class="change worse"' in card
        assert arrow in card
    assert "Slower: median latency +20.0%." in words(page)


def test_a_failed_output_check_withholds_every_change() -> None:
    page = render_report(compare_benchmarks(make_benchmark(), make_benchmark(SLOWER), check=lambda: False))

    assert "The output check failed" in page
    assert 'class="change' not in page
    assert "outputs differ, change withheld" in page
    assert 'id="ruler"' not in page


def test_what_differs_between_contexts_stands_first() -> None:
    head = make_benchmark()
    head["context"]["num_threads"] = 4

    page = render_report(compare_benchmarks(make_benchmark(), head, check=lambda: True))

    first = page.partition('id="context"')[2].partition("<tbody>")[2].split("</tr>", maxsplit=1)[0]
    assert "Threads" in first
    assert "differs" in first


@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", "\u202e", "<img src=x>"])
def test_hostile_operators_stay_text(name: str) -> None:
    page = render_report(make_benchmark(profile=((name, 1, 1e-6),)))

    found = check_structure(page)
    assert not [each for each in found if each.tag == "img"]
    assert "\u202e" not in page


def edited(**changes: Any) -> Any:
    return make_benchmark(**changes)


@pytest.mark.parametrize(
    ("report", "options", "message"),
    [
        (edited(schema_version=9), {}, "schema_version is 9"),
        (edited(report_type="other"), {}, "report_type must be one of"),
        (edited(measurement={}), {}, "measurement: missing `number_per_run`"),
        (
            edited(measurement={"number_per_run": 1, "raw_times_seconds": [-1.0], "measured_calls": 1}),
            {},
            r"raw_times_seconds\[0\]: expected finite seconds",
        ),
        (edited(totals={"latency": {}}), {}, "totals: latency: a metric has exactly the keys"),
        (edited(), {"format": "svg"}, "a benchmark renders as 'html' only"),
        (edited(), {"before": make_benchmark()}, "compare two benchmarks with compare_benchmarks first"),
    ],
)
def test_a_broken_benchmark_is_refused(report: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render_report(report, **options)


def test_a_broken_side_is_named() -> None:
    comparison = compare_benchmarks(make_benchmark(), make_benchmark(), check=lambda: True)

    with pytest.raises(ValueError, match="before: totals: latency: a metric has exactly"):
        render_report({**comparison, "before": {**make_benchmark(), "totals": {"latency": 3}}})


times = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=50)


# 817.00 s and 817.05 s read alike in four digits.
@given(times)
@example([817.0, 817.25])
@example([1e-3, 1.0001e-3])
@example([5.0, nextafter(5.0, 6.0)])
def test_every_value_lies_on_its_axis(values: list[float]) -> None:
    scale = axis(values, 1000)

    assert all(-0.1 <= scale.at(value) <= 1000.1 for value in values)
    assert len({label for _, label in scale.ticks}) == len(scale.ticks)
    assert [x for x, _ in scale.ticks] == sorted(x for x, _ in scale.ticks)


@given(st.lists(st.floats(-99, 1e4).map(lambda value: round(value, 9)), min_size=1, max_size=50))
@example([12.31, 12.34])
@example([-50.001, -50.0])
def test_no_two_percentages_on_an_axis_are_alike(values: list[float]) -> None:
    labels = [label for _, label in axis(values, 1000, "percent", ticks=8).ticks]

    assert len(set(labels)) == len(labels)


def test_ticks_take_the_digits_that_their_step_needs() -> None:
    assert [label for _, label in axis([817.0, 818.25], 1000).ticks] == [
        "817.00\xa0s", "817.25\xa0s", "817.50\xa0s", "817.75\xa0s", "818.00\xa0s", "818.25\xa0s",
    ]  # fmt: skip
    assert axis([817.0, 821.0], 1000).ticks[0][1] == "817.0\xa0s"
    assert [label for _, label in axis([12.25, 12.375], 1000, "percent").ticks] == [
        "+12.25%", "+12.275%", "+12.3%", "+12.325%", "+12.35%", "+12.375%",
    ]  # fmt: skip


def test_many_blocks_are_binned_and_stay_small() -> None:
    values = [1e-3 * (1 + (at % 97) / 97) for at in range(50_000)]
    scale = axis(values, 1080)

    drawn = side("blocks", values, scale, scale, 1080)

    assert drawn.is_binned
    assert drawn.run_order.count("M") <= MOST_DOTS + 3
    assert len(drawn.run_order) < 40_000


def test_few_blocks_have_no_cumulative_curve() -> None:
    scale = axis(TIMES, 1080)

    assert side("blocks", TIMES, scale, scale, 1080).steps == ""
    assert side("blocks", TIMES * 5, scale, scale, 1080).steps.startswith("M")


def test_pages_stay_under_their_caps() -> None:
    many = [1e-3 * (1 + (at % 97) / 97) for at in range(1_000)]
    profile = tuple((f"aten::op_{at}", at, 1e-6 * at) for at in range(1, 21))
    one, other = make_benchmark(many, profile=profile), make_benchmark([1.1 * each for each in many], profile=profile)

    assert len(render_report(one).encode()) <= 150 * 1024
    assert len(render_report(compare_benchmarks(one, other, check=lambda: True)).encode()) <= 200 * 1024
