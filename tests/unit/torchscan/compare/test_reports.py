"""compare_reports: deltas only between complete numbers of one kind, rows by path and call."""

from __future__ import annotations

import json
from copy import deepcopy
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.reports import Node, decoder, make_report, result

from torchscan.compare.reports import compare_reports
from torchscan.report.diff import ReportDiff


def conv(channels: int) -> Node:
    """Conv2d(3, channels, 3) on a 32 x 32 image: 30 * 30 positions, 27 products each."""
    return Node("conv2d", "Conv2d", 28 * channels, 30 * 30 * 27 * channels, (1, channels, 30, 30))


def test_a_wider_convolution_has_112_parameters_more() -> None:
    diff = compare_reports(make_report(conv(8)), make_report(conv(12)))

    parameters = diff["totals"]["parameters"]
    assert (parameters["status"], parameters["delta"]) == ("complete", 112)
    (changed,) = diff["layers"]["changed"]
    assert changed["metrics"]["macs"]["delta"] == 4 * 900 * 27
    assert changed["type"] == {"before": "Conv2d", "after": "Conv2d"}


def test_equal_reports_have_no_changed_rows_and_zero_deltas() -> None:
    report = make_report(decoder(2))

    diff = compare_reports(report, deepcopy(report))

    assert diff["layers"] == {"added": [], "removed": [], "changed": []}
    assert {total["delta"] for total in diff["totals"].values()} == {0}


def test_calls_on_one_side_are_added_or_removed() -> None:
    before, after = make_report(decoder(2)), make_report(decoder(3))

    diff, reverse = compare_reports(before, after), compare_reports(after, before)

    assert {row["path"].split(".")[1] for row in diff["layers"]["added"]} == {"2"}
    assert diff["layers"]["added"] == reverse["layers"]["removed"]
    assert diff["layers"]["added"][0] == {"path": "blocks.2", "call_index": 0, "type": "Block"}


def test_a_second_call_of_a_shared_module_is_its_own_row() -> None:
    before = make_report(Node("", "Net", children=(Node("act", "ReLU"),)))
    after = make_report(Node("", "Net", children=(Node("act", "ReLU", calls=2),)))

    diff = compare_reports(before, after)

    assert diff["layers"]["added"] == [{"path": "act", "call_index": 1, "type": "ReLU"}]


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ((None, 5), (7, None), "partial"),
        ((7, None), (None, 5), "partial"),
        ((7, None), (None, None), "unavailable"),
        ((None, 5), (None, None), "unavailable"),
    ],
)
def test_incomplete_states_propagate_without_a_delta(
    before: tuple[int | None, int | None], after: tuple[int | None, int | None], status: str
) -> None:
    sides = [make_report(conv(8)) for _ in range(2)]
    for side, (value, known) in zip(sides, (before, after), strict=True):
        side["totals"]["macs"] = result("macs", value, "model", known)

    delta = compare_reports(*sides)["totals"]["macs"]

    assert (delta["status"], delta["delta"]) == (status, None)


def test_a_metric_of_one_side_only_is_unavailable() -> None:
    before, after = make_report(conv(8)), make_report(conv(8))
    del before["totals"]["operator_macs"]

    delta = compare_reports(before, after)["totals"]["operator_macs"]

    assert (delta["status"], delta["delta"], delta["before"]) == ("unavailable", None, None)


@pytest.mark.parametrize("field", ["method", "unit", "scope"])
def test_numbers_of_different_kinds_are_refused(field: str) -> None:
    before, after = make_report(conv(8)), make_report(conv(8))
    after["totals"]["macs"][field] = "other"

    with pytest.raises(ValueError, match=rf"totals: macs cannot be compared: its {field} was .* and is 'other'"):
        compare_reports(before, after)


def test_a_different_method_of_an_unmeasured_metric_is_a_change_of_state() -> None:
    before, after = make_report(conv(8)), make_report(conv(8))
    after["totals"]["macs"] = {**result("macs", None, "model"), "method": "not_requested"}

    assert compare_reports(before, after)["totals"]["macs"]["status"] == "unavailable"


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 2)])
def test_other_schema_versions_are_refused(before: int, after: int) -> None:
    sides = make_report(conv(8), schema_version=before), make_report(conv(8), schema_version=after)

    with pytest.raises(ValueError, match="schema versions"):
        compare_reports(*sides)


def test_a_duplicated_identity_is_refused_by_side_and_name() -> None:
    before, after = make_report(conv(8)), make_report(conv(8))
    after["layers"].append(after["layers"][0])

    with pytest.raises(ValueError, match="after: call 0 of module '' is listed twice"):
        compare_reports(before, after)


def test_dependencies_stand_beside_a_changed_row() -> None:
    before, after = make_report(conv(8)), make_report(conv(12))
    before["layers"][0]["token_dependencies"] = {"status": "complete", "sources": ["all"]}
    after["layers"][0]["token_dependencies"] = {"status": "unavailable"}

    (changed,) = compare_reports(before, after)["layers"]["changed"]

    assert changed["token_dependencies"] == {
        "before": {"status": "complete", "sources": ["all"]},
        "after": {"status": "unavailable"},
    }


def test_new_dependencies_alone_make_a_row_changed_but_missing_ones_do_not() -> None:
    rewired, old, same = (make_report(conv(8)) for _ in range(3))
    rewired["layers"][0]["token_dependencies"] = {"relation": "all"}
    same["layers"][0]["token_dependencies"] = {"relation": "prefix"}

    assert len(compare_reports(rewired, same)["layers"]["changed"]) == 1
    assert compare_reports(old, same)["layers"]["changed"] == []


def test_comparing_changes_neither_report_and_gives_plain_json() -> None:
    before, after = make_report(decoder(2)), make_report(decoder(3, wide=[1]))
    kept = deepcopy((before, after))

    diff = compare_reports(before, after)

    assert (before, after) == kept
    assert json.loads(json.dumps(diff, allow_nan=False)) == diff


def test_a_diff_fits_its_schema() -> None:
    schema = json.loads((files("torchscan") / "schemas" / "diff.schema.json").read_text())
    before, after = make_report(decoder(3)), make_report(decoder(4, wide=[1], formula=False))
    before["layers"][0]["token_dependencies"] = {"status": "unavailable"}

    diff = compare_reports(before, after)

    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(diff)
    assert diff["layers"]["added"]
    assert diff["layers"]["changed"]


def deltas(diff: ReportDiff) -> dict[str, float | None]:
    return {name: total["delta"] for name, total in diff["totals"].items()}


@given(st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_swapping_the_sides_negates_every_delta(left: set[int], right: set[int]) -> None:
    before, after = make_report(decoder(4, 8, wide=left)), make_report(decoder(4, 8, wide=right))

    forth, back = compare_reports(before, after), compare_reports(after, before)

    assert {name: -value for name, value in deltas(forth).items() if value is not None} == deltas(back)
    assert [row["path"] for row in forth["layers"]["changed"]] == [row["path"] for row in back["layers"]["changed"]]
