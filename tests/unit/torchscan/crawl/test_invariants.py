"""What holds for every model: sums, sharing, batches, devices, and the plain forward's output."""

from __future__ import annotations

import json

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.small_nets import Residual, Scaled, crawl
from torch import nn

from torchscan import crawl_module

WORK = ("module_flops", "macs", "dmas", "operator_flops", "operator_macs")
ADDITIVE = ("module_flops", "macs", "operator_flops", "operator_macs")
WIDTH = 4


def layer(kind: str) -> nn.Module:
    return {
        "linear": lambda: nn.Linear(WIDTH, WIDTH),
        "relu": nn.ReLU,
        "norm": lambda: nn.LayerNorm(WIDTH),
        "residual": lambda: Residual(WIDTH),
        "scaled": Scaled,
        "gelu": nn.GELU,
        "dropout": nn.Dropout,
        "softmax": lambda: nn.Softmax(-1),
    }[kind]()


KINDS = st.sampled_from(["linear", "relu", "norm", "residual", "scaled", "gelu", "dropout", "softmax"])
TREES = st.recursive(KINDS, lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=12)
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def build(tree) -> nn.Module:
    return layer(tree) if isinstance(tree, str) else nn.Sequential(*map(build, tree))


def known(report, metric):
    return report["totals"][metric]["known_value"]


@quick
@given(TREES)
def test_rows_add_up_to_totals(tree):
    report = crawl(build(tree), torch.ones(2, WIDTH))
    assert sum(each["metrics"]["operator_flops"]["known_value"] for each in report["layers"]) == known(
        report, "operator_flops"
    )
    owned = [each["metrics"] for each in report["layers"] if not holds(report, each)]
    for metric in ("module_flops", "macs", "dmas"):
        parts = [each[metric]["known_value"] for each in owned]
        assert sum(part or 0 for part in parts) == (known(report, metric) or 0)
        assert report["layers"][0]["metrics"][metric]["known_value"] == known(report, metric)  # the root reads 100%
    assert sum(each["parameters"]["parameters"]["value"] for each in report["layers"]) == known(report, "parameters")


def holds(report, layer_report):
    prefix = f"{layer_report['path']}." if layer_report["path"] else ""
    return any(each["path"] != layer_report["path"] and each["path"].startswith(prefix) for each in report["layers"])


@quick
@given(TREES, st.integers(1, 4))
def test_cost_is_additive_in_the_batch(tree, batch):
    model = build(tree)
    one, many = crawl(model, torch.ones(1, WIDTH)), crawl(model, torch.ones(batch, WIDTH))
    for metric in ADDITIVE:
        assert one["totals"][metric]["status"] == many["totals"][metric]["status"]
        if known(one, metric) is not None:
            assert known(many, metric) == batch * known(one, metric)


@quick
@given(TREES)
def test_meta_equals_eager(tree):
    eager = crawl(build(tree), torch.ones(2, WIDTH))
    with torch.device("meta"):
        meta = crawl(build(tree), torch.ones(2, WIDTH))
    assert [each["metrics"] for each in eager["layers"]] == [each["metrics"] for each in meta["layers"]]
    assert eager["totals"] == meta["totals"]


@quick
@given(KINDS, st.integers(1, 5))
def test_shared_equals_unshared(kind, times):
    one = layer(kind)
    shared, apart = nn.Sequential(*[one] * times), nn.Sequential(*[layer(kind) for _ in range(times)])
    reports = [crawl(model, torch.ones(2, WIDTH)) for model in (shared, apart)]
    for metric in WORK:
        assert reports[0]["totals"][metric] == reports[1]["totals"][metric]


@quick
@given(TREES, st.sampled_from(["full", "structure"]))
def test_the_observed_output_is_the_plain_one(tree, mode):
    outputs = []

    class Keeps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = build(tree)

        def forward(self, x):
            outputs.append(self.body(x))
            return outputs[-1]

    model, x = Keeps().eval(), torch.randn(2, WIDTH)
    with torch.no_grad():
        model(x)
    crawl(model, x, mode=mode)
    assert torch.equal(*outputs)


@quick
@given(TREES)
def test_equal_analyses_give_equal_bytes(tree):
    model = build(tree)
    texts = {json.dumps(crawl(model, torch.ones(2, WIDTH)), allow_nan=False) for _ in range(2)}
    assert len(texts) == 1


@quick
@given(TREES)
def test_structure_and_full_agree_on_structure(tree):
    model = build(tree)
    full, structure = (crawl(model, torch.ones(2, WIDTH), mode=mode) for mode in ("full", "structure"))
    for one, other in zip(full["layers"], structure["layers"], strict=True):
        assert one | {"metrics": {}} == other | {"metrics": {}}


@pytest.mark.parametrize("calls", [100, 400])
def test_the_report_shares_equal_parts(calls):
    report = crawl_module(nn.Sequential(*[nn.Linear(2, 2) for _ in range(calls)]), (2,))
    distinct = {id(result) for each in report["layers"] for result in each["metrics"].values()}
    assert len(distinct) < 30
