"""Reports from files may be anything. Whatever is changed in one, it renders or is refused with a ValueError."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.measured import make_benchmark
from support.reports import make_report, small_net

from torchscan.compare.benchmarks import compare_benchmarks
from torchscan.render.document import render_report

ODD = (None, True, -1, 0, 2**63, 1.5, "", "x", "</script>", [], {}, [[]], {"a": 1}, [None])
ANALYSIS = make_report(
    small_net((8,)),
    diagnostics=[
        {"code": "c", "severity": "warning", "metric": "macs", "message": "m", "path": "stem", "call_index": 0}
    ],
)
ANALYSIS["layers"][1]["metric_ownership"] = {"macs": "subtree"}
ANALYSIS["layers"][2]["metric_owners"] = {"macs": {"path": "", "call_index": 0}}
ANALYSIS["layers"][1]["token_dependencies"] = {"status": "complete", "sources": [{"arguments": ["x"], "relation": {}}]}
BENCHMARK = make_benchmark(profile=(("aten::mm", 1, 1e-6),))
SOURCES = {
    "analysis": json.dumps(ANALYSIS),
    "benchmark": json.dumps(BENCHMARK),
    "comparison": json.dumps(compare_benchmarks(BENCHMARK, BENCHMARK, check=lambda: True)),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


PLACES = {name: places(json.loads(source))[1:] for name, source in SOURCES.items()}


def broken(name: str, place: tuple[Any, ...], odd: Any) -> Any:
    report = json.loads(SOURCES[name])
    holder = report
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = odd
    return report


@pytest.mark.parametrize("name", SOURCES)
@given(data=st.data())
@settings(max_examples=150)
def test_one_odd_value_anywhere_renders_or_is_a_value_error(name: str, data: st.DataObject) -> None:
    report = broken(name, data.draw(st.sampled_from(PLACES[name])), data.draw(st.sampled_from(ODD)))

    try:
        page = render_report(report)
    except ValueError:
        return
    assert page.startswith("<!doctype html>")


@pytest.mark.parametrize(("place", "odd"), [(("context", "model_type"), True), (("totals",), {})])
def test_what_only_a_drawing_reads_is_refused_by_name(place: tuple[Any, ...], odd: Any) -> None:
    with pytest.raises(ValueError, match=place[-1]):
        render_report(broken("analysis", place, odd), format="svg")


@given(place=st.sampled_from(PLACES["analysis"]), odd=st.sampled_from(ODD))
@settings(max_examples=100)
def test_a_broken_side_of_a_comparison_is_no_other_error(place: tuple[Any, ...], odd: Any) -> None:
    whole, other = json.loads(SOURCES["analysis"]), broken("analysis", place, odd)

    for report, before in ((whole, other), (other, whole)):
        try:
            render_report(report, before=before, format="svg")
        except ValueError:
            continue
