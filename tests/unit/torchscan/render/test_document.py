"""render_report at its door: what it accepts, what it refuses, what it never shows."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from typing import Any
from xml.dom import minidom

import pytest
from support.markup import check_structure, elements
from support.reports import Node, decoder, make_report, result, small_net

from torchscan.render.document import render_report
from torchscan.render.evidence import Evidence
from torchscan.render.page import evidence_island

HOSTILE = (
    "</script><script>alert(1)</script>",
    "]]>",
    "-->",
    "<img src=//x onerror=alert(1)>",
    "`|`",
    "\u202egpj.exe",
    "nul\x00\x1b[31m",
    "\ud800",
    "😀" * 5,
    "__proto__",
    "a" * 10_000,
    '" onmouseover="x',
    "{{ 7 * 7 }}",
    "\u2028",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    node = Node("net", name, children=(Node(name.replace(".", ""), name, 3, 7), Node("b", "B", 3, 7)))
    report = make_report(node, diagnostics=[diagnostic(message=name, path=name, operator=name)])

    page = render_report(report, title=name)
    drawing = render_report(report, title=name, format="svg")

    found = check_structure(page)
    assert sum(each.tag == "script" for each in found) == 1
    assert not [each for each in found if each.tag == "img"]
    assert "49" not in [each.text for each in found if each.tag == "h1"]
    assert "\u202e" not in page + drawing
    assert "\x00" not in page
    page.encode()
    minidom.parseString(drawing.encode())


def diagnostic(**changes: Any) -> dict[str, Any]:
    facts = {"code": "uncounted_operator", "severity": "warning", "metric": "operator_flops", "message": "no formula"}
    return {**facts, **changes}


def broken(change: Any) -> Any:
    report = json.loads(json.dumps(make_report(small_net())))
    change(report)
    return report


BREAKAGES = {
    "schema_version is 2": lambda report: report.update(schema_version=2),
    "missing `totals`": lambda report: report.pop("totals"),
    "missing `operator_flops`": lambda report: report.pop("operator_flops"),
    "expected a list": lambda report: report.update(layers={}),
    "listed twice": lambda report: report["layers"].append(report["layers"][0]),
    "missing `path`": lambda report: report["layers"][1].pop("path"),
    "`?depth": lambda report: report["layers"][1].update(depth="1"),
    "exactly the keys": lambda report: report["totals"]["macs"].pop("scope"),
    "status 'complete' with value None": lambda report: report["totals"]["macs"].update(value=None),
    "status 'done'": lambda report: report["totals"]["macs"].update(status="done"),
    "status 'unavailable' with value 3": lambda report: report["totals"]["macs"].update(
        status="unavailable", value=3, known_value=3
    ),
    "status 'complete' with value True": lambda report: report["totals"]["macs"].update(value=True, known_value=True),
    "not plain JSON data": lambda report: report["context"].update(torch_version={1, 2}),
    "not plain JSON data: Out of range": lambda report: report["totals"]["macs"].update(known_value=math.inf),
    r"layers\[1\].*metrics: macs": lambda report: report["layers"][1]["metrics"]["macs"].update(known_value="5"),
}


@pytest.mark.parametrize("message", BREAKAGES)
def test_a_broken_report_is_refused_with_the_place(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render_report(broken(BREAKAGES[message]))


def test_a_report_cut_in_half_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a torchscan report"):
        render_report(json.dumps(make_report(small_net()))[:500])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "pdf"}, "format must be one of 'html', 'svg', got 'pdf'"),
        ({"metric": "latency"}, "metric must be one of 'module_flops', .* got 'latency'"),
        ({"title": None}, "title must be a string"),
        ({"before": {"schema_version": 1}}, "before: report: missing"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render_report(make_report(small_net()), **options)


def test_different_methods_are_refused() -> None:
    before = make_report(small_net())
    before["totals"]["macs"]["method"] = "other"

    with pytest.raises(ValueError, match="macs cannot be compared"):
        render_report(make_report(small_net()), before=before)


def test_rendering_changes_nothing_and_repeats_itself() -> None:
    report, before = make_report(decoder(3)), make_report(decoder(4))
    kept = deepcopy((report, before))

    assert render_report(report, before=before) == render_report(report, before=before)
    assert (report, before) == kept


@pytest.mark.parametrize(
    "change",
    [
        {"context": {"torch_version": "2.14.0"}},
        {"context": {"execution_mode": "train"}},
        {"context": {"devices": ["cuda:0"]}},
        {"context": {"dtypes": ["torch.bfloat16"]}},
        {"context": {"torchscan_version": None}},
        {"inputs": {"source": "caller", "args": [], "kwargs": {}}},
    ],
)
def test_execution_changes_are_withheld_when_the_sides_ran_differently(change: dict[str, Any]) -> None:
    page = render_report(make_report(small_net((8, 16)), **change), before=make_report(small_net((8, 8))))

    text = " ".join(each.text for each in elements(page))
    assert "Not comparable" in text
    card = page[page.index("Module FLOPs</h3>") :].split("</li>", maxsplit=1)[0]
    assert "change withheld" in card
    assert "%" not in card
    storage = page[page.index("Parameters</h3>") :].split("</li>", maxsplit=1)[0]
    assert "▲" in storage


def test_a_lower_bound_has_no_percentage_and_no_share() -> None:
    page = render_report(make_report(small_net(formula=False)), before=make_report(small_net()))

    card = page[page.index("MACs</h3>") :].split("</li>", maxsplit=1)[0]
    assert "≥" in card
    assert "no change computed" in card
    assert "%" not in card


def test_an_unavailable_total_is_a_dash_and_never_a_zero() -> None:
    report = make_report(small_net())
    report["totals"]["module_flops"] = result("module_flops", None, "model")

    card = render_report(report).partition("Module FLOPs</h3>")[2].split("</li>", maxsplit=1)[0]

    assert ">—</p>" in card
    assert "unavailable" in card


def test_structure_mode_says_not_requested() -> None:
    report = make_report(small_net(), context={"analysis_mode": "structure"})
    for name in ("module_flops", "macs", "dmas", "operator_flops", "operator_macs"):
        report["totals"][name] = {**result(name, None, "model"), "method": "not_requested"}
    for row in report["layers"]:
        row["metrics"] = {"calls": {**result("macs", 1, "module_call"), "unit": "calls", "method": "forward_hook"}}

    page = render_report(report)

    assert "not requested" in page
    assert "No module has a measured share of Module FLOPs" in page


def test_a_metric_without_a_map_is_refused_with_its_reason() -> None:
    with pytest.raises(ValueError, match=r"'operator_flops'.*got 'operator_macs'; operator MACs are one total"):
        render_report(make_report(small_net()), metric="operator_macs")  # type: ignore[arg-type] # refused at run time


def test_one_module_alone_is_a_whole_page() -> None:
    check_structure(render_report(make_report(Node("relu", "ReLU"))))


def test_a_tree_of_any_depth_stays_under_the_parsers_nesting_limit() -> None:
    report = make_report(Node("", "Net", children=(Node("a", "Linear", 1, 1),)))
    row = report["layers"][1]
    report["layers"] += [{**row, "path": ".".join(["a"] * deep), "depth": deep} for deep in range(2, 700)]

    found = elements(render_report(report))

    assert max(each.inside.count("details") for each in found) < 256
    assert {f"m{index}" for index in range(700)} <= {each.attributes.get("id") for each in found}


def test_a_report_without_any_call_is_a_whole_page() -> None:
    check_structure(render_report(make_report(small_net(), layers=[])))


def test_a_number_beyond_floats_is_refused() -> None:
    report = make_report(small_net((8, 8)))
    report["layers"][1]["metrics"]["macs"].update(value=10**400, known_value=10**400)

    with pytest.raises(ValueError, match=r"layers\[1\].*macs: status 'complete' with value 1000"):
        render_report(report)


def test_a_number_beyond_a_scripts_reach_is_written_out_and_others_stay_numbers() -> None:
    rows = (("0", "(1, 4)", "(1, 4)", 4096, 2**53 - 1, 2**53, "≥ 12"),)
    island = json.loads(evidence_island([Evidence(("Call",), rows, ())]))

    assert island["rows"][0][1] == [["0", 0, 0, 4096, 2**53 - 1, "9,007,199,254,740,992", "≥ 12"]]
    assert island["strings"] == ["(1, 4)"]
