"""The owner's own examples, run as they stand."""

from __future__ import annotations

import json

import torch
from torch import nn

from torchscan import compare_reports, crawl_module, summary

TABLE = """\
__________________________________________________________
Layer     Type      Output Shape      Param #    Trainable
==========================================================
conv2d    Conv2d    (1, 8, 30, 30)    224        True
==========================================================
Trainable params: 224
Non-trainable params: 0
Total params: 224
----------------------------------------------------------
Model size (params + buffers): 0.00 Mb
----------------------------------------------------------
Module-formula forward FLOPs: 388.80 kFLOPs
Multiply-Accumulations: 194.40 kMACs
Direct memory accesses: 201.82 kDMAs
Operator forward FLOPs: 388.80 kFLOPs
__________________________________________________________
"""


def test_summary_keeps_the_familiar_terminal_form(capsys):
    model = nn.Conv2d(3, 8, 3)
    report = summary(model, (3, 32, 32))
    assert capsys.readouterr().out == TABLE
    assert report == crawl_module(model, (3, 32, 32), strict=True)
    totals = {name: result["value"] for name, result in report["totals"].items()}
    assert (totals["module_flops"], totals["macs"], totals["dmas"]) == (388_800, 194_400, 201_824)
    assert (totals["operator_flops"], totals["operator_macs"]) == (388_800, 194_400)


def test_a_complete_call_keeps_metadata_only():
    class MaskedModel(nn.Module):
        def forward(self, input_ids, *, attention_mask):
            return input_ids * attention_mask

    attention_mask = torch.tensor([[True, True, False, False]])
    report = crawl_module(MaskedModel(), args=(torch.ones(1, 4),), kwargs={"attention_mask": attention_mask})
    shown = json.loads(
        '{"kind": "tensor", "shape": [1, 4], "dtype": "torch.bool", "device": "cpu", "requires_grad": false}'
    )
    assert report["inputs"]["kwargs"]["attention_mask"] == shown


def test_structure_mode_is_one_option(capsys):
    report = summary(nn.Conv2d(3, 8, 3), (3, 32, 32), mode="structure")
    assert "not requested" in capsys.readouterr().out
    assert report["totals"]["macs"]["method"] == "not_requested"


def test_before_and_after_compare():
    before = crawl_module(nn.Conv2d(3, 8, 3), (3, 32, 32))
    after = crawl_module(nn.Conv2d(3, 12, 3), (3, 32, 32))
    parameters = compare_reports(before, after)["totals"]["parameters"]
    assert (parameters["status"], parameters["delta"]) == ("complete", 112)


def test_several_shapes_feed_several_inputs():
    class Adds(nn.Module):
        def forward(self, left, right):
            return left.sum() + right.sum()

    report = crawl_module(Adds(), [(4,), (6,)])
    assert [each["shape"] for each in report["inputs"]["args"]] == [[1, 4], [1, 6]]
