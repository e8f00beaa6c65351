from __future__ import annotations

import torch
from support.small_nets import codes, crawl, measured, row
from torch import nn

from torchscan import crawl_module

WORK = {"module_flops", "macs", "dmas"}
FIELD = {"receptive_field", "effective_stride", "effective_padding"}


def attention(mask=None, **options):
    x = torch.ones(1, 3, 4)
    kwargs = {"need_weights": False, "attn_mask": mask, **options}
    return crawl(nn.MultiheadAttention(4, 2, batch_first=True), x, x, x, kwargs=kwargs)


def test_an_attention_row_says_what_it_depends_on():
    report = attention()
    described = row(report, "")["token_dependencies"]
    assert (described["status"], described["scope"]) == ("complete", "module_call")
    assert described["output"] == {"sequence_axis": 1, "length": 3}
    assert measured(report, "", "macs") == ("complete", 264)  # counting.md
    assert {row(report, "")["metrics"][name]["method"] for name in FIELD} == {"not_applicable"}


def test_strict_accepts_what_does_not_apply():
    x = torch.ones(1, 3, 4)
    crawl_module(
        nn.MultiheadAttention(4, 2, batch_first=True), args=(x, x, x), kwargs={"need_weights": False}, strict=True
    )


def test_an_irregular_mask_leaves_dependencies_unavailable_and_work_complete():
    mask = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [2.0, 0.0, 0.0]])
    mask[0, 2] = float("-inf")
    report = attention(mask)
    described = row(report, "")["token_dependencies"]
    assert described["status"] == "unavailable"
    assert "reason" not in described
    assert ("unsupported_token_dependency", "", "token_dependencies") in codes(report)
    assert measured(report, "", "macs") == ("complete", 264)


def test_the_subtree_of_a_native_stack_is_owned():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    report = crawl(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.ones(1, 3, 4))
    assert measured(report, "", "macs") == ("complete", 2 * 504)
    assert {row(report, "")["metric_ownership"][metric] for metric in WORK} == {"subtree"}
    inner = row(report, "layers.0")
    assert inner["metric_owners"]["macs"] == {"path": "", "call_index": 0}
    assert WORK.isdisjoint(inner["metrics"])
    assert "operator_flops" in inner["metrics"]


def test_other_rows_have_no_dependencies():
    assert "token_dependencies" not in row(crawl(nn.Linear(3, 3)), "")
