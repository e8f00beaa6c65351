"""The page of a timed target: what was decided, its pairs, every block in order, memory and contexts."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from math import expm1
from typing import Any

import pytest
from support.markup import elements
from support.scenes import SCENES, lockstep, rendered, scene, side_evidence
from support.verdicts import limit, timing_row

from ci_action.core.timing.rounds import log_ratios
from ci_action.core.verdict import TargetVerdict, Word
from ci_action.render.benchmark_page import benchmark_page
from ci_action.render.benchmark_view import benchmark_view
from ci_action.render.pair_charts import HEIGHT, WIDTH, change_chart, timeline
from torchscan.report.blocks import quantile


def page(index: int) -> str:
    return rendered("benchmarked").pages[f"b-{index:03d}.html"]


def target(index: int) -> TargetVerdict:
    return SCENES["benchmarked"]().verdict.targets[index]


def view(index: int) -> Any:
    one = target(index)
    assert one.benchmark is not None
    return benchmark_view(one, one.benchmark)


def dots(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) (-?[\d.]+)h0", path)]


def test_a_timed_target_has_a_page_that_its_index_row_links_to() -> None:
    made = rendered("benchmarked").pages

    assert [name for name in made if name.startswith("b-")] == [f"b-{index:03d}.html" for index in range(4)]
    for index in range(4):
        assert f'<a href="b-{index:03d}.html">benchmark</a>' in made["index.html"]
        assert f'<a href="m-{index:03d}.html">' in page(index)
        assert '<a href="index.html">' in page(index)


def test_an_untimed_target_has_none() -> None:
    assert not [name for name in rendered("passing").pages if name.startswith("b-")]


def test_the_page_has_no_script_and_reaches_nowhere() -> None:
    for index in range(4):
        found = elements(page(index))

        assert not [each for each in found if each.tag in ("script", "link", "img", "iframe")]
        assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:;" in page(index)
        assert "http" not in page(index).replace("http-equiv", "")
        assert len(page(index).encode()) <= 200 * 1024


def test_each_pair_is_one_dot_where_its_change_lies() -> None:
    evidence = target(0).benchmark
    assert evidence is not None
    chart = view(0).changes[0]

    expected = [chart.axis.at(100 * expm1(value)) for value in log_ratios(evidence["rounds"], "pair")]
    assert [x for x, _ in dots(chart.lanes[0].dots)] == expected
    assert len(dots(chart.lanes[1].dots)) == 8
    assert chart.lanes[1].low is None  # a control decides nothing by an interval of its own


def test_the_interval_and_the_limit_stand_where_the_verdict_put_them() -> None:
    row = next(row for row in target(0).rows if row.metric == "latency")
    chart = view(0).changes[0]
    assert row.interval is not None

    assert (chart.lanes[0].low, chart.lanes[0].high) == (
        chart.axis.at(100 * row.interval.low),
        chart.axis.at(100 * row.interval.high),
    )
    ((at, words),) = chart.limits
    assert at == pytest.approx(chart.axis.at(5), abs=0.1)
    assert words == "limit +5%"
    assert at < chart.lanes[0].low  # over the limit: the whole bar lies beyond it


def test_a_limit_by_amount_is_placed_as_its_share_of_base() -> None:
    row = timing_row(Word.CHANGED, 0.010, 0.011, limit=limit("latency", max_increase_by=0.0005))

    chart = change_chart(row, "latency", [0.1, 0.1], [])

    assert chart is not None
    assert chart.limits[0] == (pytest.approx(chart.axis.at(5), abs=0.1), "limit +5%")


def test_blocks_stand_in_the_order_in_which_they_ran() -> None:
    rounds = [
        {"kind": "pair", "order": "ABBA", "calls_per_block": 2, "a_seconds": [2.0, 4.0], "b_seconds": [6.0, 8.0]},
        {"kind": "control", "order": "BA", "calls_per_block": 1, "a_seconds": [1.0], "b_seconds": [3.0]},
    ]

    found = timeline(rounds)  # type: ignore[arg-type] # literal dicts

    assert found is not None
    step = WIDTH / (4 + 2 + 2)  # six blocks, and two blocks' room between the rounds
    first, second = found.strips
    assert [round(x / step - 0.5) for x, _ in dots(first.base)] == [0, 3]
    assert [round(x / step - 0.5) for x, _ in dots(first.head)] == [1, 2]
    assert [round(x / step - 0.5) for x, _ in dots(second.base)] == [7]
    assert [y for _, y in dots(first.base)] == [round(HEIGHT - found.axis.at(value), 1) for value in (1.0, 2.0)]
    assert first.base_level == round(HEIGHT - found.axis.at(quantile([1.0, 2.0], 0.5)), 1)
    assert (first.is_control, second.is_control) == (False, True)


def test_withheld_changes_show_in_no_picture_and_no_number() -> None:
    html = page(1)

    assert "outputs differ, change withheld" in html
    assert "Change of latency" not in html
    assert {each.ratio for each in view(1).rounds if each.kind == "pair"} == {"withheld"}
    assert "tensor 0: largest difference 0.3 at index 17" in html


def test_contexts_name_what_differs_first_and_fold_the_rest() -> None:
    fields = view(1).differing

    assert [(field.label, field.before, field.after) for field in fields] == [("Device name", "A CPU", "Other")]
    assert page(1).index("Other</span>") < page(1).index("facts that both sides share")
    assert "Nothing that both sides recorded differs." in page(0)


def test_scopes_of_memory_have_axes_of_their_own() -> None:
    tensor, rss = view(0).memory

    assert [bar.length for bar in tensor.bars] == [round(100 * 406_847_488 / 421_527_552, 2), 100.0]
    assert max(mark for bar in rss.bars for mark in bar.marks) == 100.0
    assert [len(bar.marks) for bar in rss.bars] == [3, 3]


def test_a_bound_is_marked_in_words_and_pattern() -> None:
    one = target(0)
    evidence = lockstep("resnet50", 0.1, 1, head=side_evidence(421_527_552))
    evidence["head"]["memory"][0]["peak_bytes"] += 4096  # the two calls disagree: the larger is only a bound
    bounded = [
        replace(row, head={**row.head, "status": "partial", "value": None})  # type: ignore[typeddict-item]
        if row.metric == "peak_memory" and row.head
        else row
        for row in one.rows
    ]

    html = benchmark_page(
        replace(one, rows=tuple(bounded), benchmark=evidence), commits="", version="0", model_page=None
    )

    assert html is not None
    assert re.search(r'class="bar head bound".*?≥.402\.0.MiB lower bound', html, re.DOTALL)


def test_a_failed_benchmark_still_says_what_it_has() -> None:
    one = target(0)
    evidence = lockstep("resnet50", 0.1, 1, head=None, machine=[]) | {"rounds": []}

    html = benchmark_page(replace(one, rows=(), benchmark=evidence, notes=()), commits="", version="0", model_page=None)

    assert html is not None
    assert "0 of 12 planned" in html
    assert "Blocks in run order" not in html


def test_rounds_that_contradict_themselves_cost_their_page_and_nothing_else() -> None:
    one = target(0)
    evidence = lockstep("resnet50", 0.1, 1)
    evidence["rounds"][0]["a_seconds"] = []

    assert benchmark_page(replace(one, benchmark=evidence), commits="", version="0", model_page=None) is None


def test_hostile_words_of_a_worker_stay_text() -> None:
    one = target(0)
    odd = side_evidence(device_name="<script>alert(1)</script>\u202e", processor='"><img src=x>')
    evidence = lockstep("resnet50", 0.1, 1, head=odd)

    html = benchmark_page(replace(one, id="</h1><b>", benchmark=evidence), commits="", version="0", model_page=None)

    assert html is not None
    assert {each.tag for each in elements(html)} == {each.tag for each in elements(page(1))}
    assert "\u202e" not in html


def test_the_rounds_can_be_downloaded_without_anybodys_words() -> None:
    address = re.search(r'href="data:application/gzip;base64,([^"]+)"', page(1))
    assert address is not None

    carried = json.loads(gzip.decompress(base64.b64decode(address[1])))

    assert len(carried["rounds"]) == 20
    assert "output_check" not in carried
    assert "base" not in carried


def test_a_scene_without_benchmarks_names_no_benchmark() -> None:
    assert "benchmark" not in scene(names=("a",)).render().pages["index.html"]
