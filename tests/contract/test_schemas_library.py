"""The JSON Schemas of the library's analyses say what the TypedDicts say, and real reports satisfy them."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

import pytest
import torch
from jsonschema import Draft202012Validator
from support.small_nets import Looped, Raises, Residual, Returns, Scaled, Swallows, crawl
from torch import nn

from torchscan import ModuleHandler, crawl_module, measure_flops
from torchscan.report import analysis, diagnostic, flops, metric
from torchscan.report.analysis import TOTALS


def schema(name: str) -> dict[str, Any]:
    return json.loads((files("torchscan") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


ANALYSIS, FLOPS = schema("analysis"), schema("flops")


@pytest.mark.parametrize("document", [ANALYSIS, FLOPS])
def test_a_schema_is_valid_draft_2020_12_with_an_id_and_a_version(document):
    Draft202012Validator.check_schema(document)
    assert document["$schema"].endswith("draft/2020-12/schema")
    assert document["$id"].startswith("urn:torchscan:schema:")
    assert document["properties"]["schema_version"] == {"const": 1}


@pytest.mark.parametrize(
    ("typed", "described"),
    [
        (analysis.AnalysisReport, ANALYSIS),
        (analysis.Context, ANALYSIS["properties"]["context"]),
        (analysis.Inputs, ANALYSIS["properties"]["inputs"]),
        (analysis.LayerReport, ANALYSIS["$defs"]["layer"]),
        (analysis.MetricOwner, ANALYSIS["$defs"]["owner"]),
        (diagnostic.Diagnostic, ANALYSIS["$defs"]["diagnostic"]),
        (metric.MetricResult, ANALYSIS["$defs"]["metric"]),
        (flops.FlopReport, FLOPS),
        (flops.FlopContext, FLOPS["properties"]["context"]),
        (flops.IgnoredOperator, FLOPS["properties"]["ignored_operators"]["items"]),
    ],
)
def test_a_typed_dict_and_its_schema_have_the_same_keys(typed, described):
    hints = get_type_hints(typed, include_extras=True)
    assert set(described["properties"]) == set(hints)
    assert set(described["required"]) == {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
    assert described["additionalProperties"] is False


def test_both_schemas_share_their_parts():
    for part in ("metric", "diagnostic", "counts"):
        assert ANALYSIS["$defs"][part] == FLOPS["$defs"][part]
    assert ANALYSIS["$defs"]["flops"]["properties"] == FLOPS["properties"]


def test_the_closed_lists_are_the_codes_and_totals():
    assert ANALYSIS["$defs"]["diagnostic"]["properties"]["code"]["enum"] == list(get_args(diagnostic.DiagnosticCode))
    assert ANALYSIS["properties"]["totals"]["required"] == list(TOTALS)


class Everything(nn.Module):
    """Returns and takes every kind of value."""

    def forward(self, x, *, options):
        nested = [x]
        nested.append(nested)
        return {"x": (x, None), 3: nested, "options": options, "object": object(), "text": "text"}


OWNER = {nn.Sequential: ModuleHandler(lambda call: {"macs": 1}, frozenset({"macs"}))}
REPORTS = {
    "convolutions": lambda: crawl_module(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), (3, 8, 8)),
    "residual": lambda: crawl(Residual()),
    "structure": lambda: crawl(Residual(), mode="structure"),
    "native": lambda: crawl(Residual(), formulas="native"),
    "looped": lambda: crawl(Looped(3)),
    "unsupported": lambda: crawl(nn.Sequential(Scaled())),
    "failed": lambda: crawl(Swallows(ValueError("no"))),
    "owned": lambda: crawl(nn.Sequential(nn.Linear(3, 3)), custom_modules=OWNER),
    "broken handler": lambda: crawl(nn.Linear(3, 3), custom_modules={nn.Linear: ModuleHandler(lambda call: None)}),
    "every kind": lambda: crawl(Everything(), torch.ones(2), kwargs={"options": {"a": [1, (2.5, None)]}}),
    "sparse": lambda: crawl(nn.Linear(4, 6), torch.eye(4).to_sparse()),
    "attention": lambda: crawl(nn.MultiheadAttention(4, 2, batch_first=True), *[torch.ones(1, 3, 4)] * 3),
    "transformer": lambda: crawl(
        nn.Transformer(4, 2, 1, 1, 8, batch_first=True), torch.ones(1, 3, 4), torch.ones(1, 2, 4)
    ),
    "recurrent": lambda: crawl(nn.LSTM(3, 4, bidirectional=True), torch.ones(5, 2, 3)),
    "meta": lambda: crawl(nn.Linear(3, 3, device="meta"), torch.ones(1, 3, device="meta")),
    "none": lambda: crawl(Returns(None)),
}


@pytest.mark.parametrize("name", REPORTS)
def test_real_reports_satisfy_the_schema(name):
    report = json.loads(json.dumps(REPORTS[name](), allow_nan=False))
    assert [error.message for error in Draft202012Validator(ANALYSIS).iter_errors(report)] == []
    assert [error.message for error in Draft202012Validator(FLOPS).iter_errors(report["operator_flops"])] == []


@pytest.mark.parametrize("formulas", ["native", "extended"])
def test_a_measured_workload_satisfies_the_flops_schema(formulas):
    x = torch.ones(8, dtype=torch.complex64)

    def workload():
        return (x * x).real.sin()

    report = json.loads(json.dumps(measure_flops(workload, formulas=formulas), allow_nan=False))
    assert [error.message for error in Draft202012Validator(FLOPS).iter_errors(report)] == []


def test_rows_on_an_exception_satisfy_the_schema():
    with pytest.raises(ValueError, match="no") as caught:
        crawl(Raises(ValueError("no")))
    rows = json.loads(json.dumps(caught.value.torchscan_rows, allow_nan=False))
    described = {**ANALYSIS["$defs"]["layer"], "$defs": ANALYSIS["$defs"]}
    assert [error.message for row in rows for error in Draft202012Validator(described).iter_errors(row)] == []


@pytest.mark.parametrize(
    "broken",
    [
        {"status": "complete", "value": None, "known_value": None},
        {"status": "partial", "value": 3, "known_value": 3},
        {"status": "unavailable", "value": None, "known_value": 3},
        {"status": "fine", "value": 3, "known_value": 3},
    ],
)
def test_an_illegal_state_does_not_satisfy_the_schema(broken):
    report = crawl(Residual())
    report["totals"]["macs"] = {**report["totals"]["macs"], **broken}
    assert list(Draft202012Validator(ANALYSIS).iter_errors(report))
