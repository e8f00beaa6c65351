"""The printed table. The first block is the README's, byte for byte."""

from __future__ import annotations

import pytest
from support.reports import Node, decoder, make_report, result

from torchscan.render.summary_table import summary_table

README_BLOCK = """\
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
__________________________________________________________"""

CONV = Node("conv2d", "Conv2d", 224, 194_400, (1, 8, 30, 30))


def test_one_convolution_prints_the_readme_block() -> None:
    report = make_report(CONV)
    report["totals"]["dmas"] = result("dmas", 201_824, "model")

    assert summary_table(report) == README_BLOCK


def test_a_lower_bound_and_a_missing_total_never_read_as_a_number() -> None:
    report = make_report(CONV)
    report["totals"]["macs"] = result("macs", None, "model", known=1_500)
    report["totals"]["dmas"] = result("dmas", None, "model")
    report["totals"]["module_flops"] = {**result("module_flops", None, "model"), "method": "not_requested"}

    lines = summary_table(report).splitlines()

    assert "Multiply-Accumulations: >= 1.50 kMACs" in lines
    assert "Direct memory accesses: unavailable" in lines
    assert "Module-formula forward FLOPs: not requested" in lines


def test_a_measured_zero_is_a_zero() -> None:
    assert "Multiply-Accumulations: 0 MACs" in summary_table(make_report(Node("relu", "ReLU")))


def test_a_tree_is_drawn_with_every_call() -> None:
    net = Node(
        "net", "Net", children=(Node("a", "Linear", 6, 6), Node("b", "Seq", children=(Node("c", "ReLU", calls=2),)))
    )

    lines = summary_table(make_report(net)).splitlines()[3:8]

    assert [line.split("    ")[0].rstrip() for line in lines] == ["net", "├─ a", "└─ b", "   └─ c", "   └─ c (call 1)"]
    assert "reused" in lines[4]


def test_hidden_parameters_stay_in_the_row_above() -> None:
    report = make_report(decoder(2, 8))
    everything = report["totals"]["parameters"]["value"]

    lines = summary_table(report, max_depth=0).splitlines()

    assert f"{everything:,}" in lines[3]
    assert lines[4].startswith("====")


@pytest.mark.parametrize(
    ("wrap_mode", "expected"),
    [
        ("start", "..." + "b" * 17 + "c" * 20),
        ("mid", "a" * 19 + "..." + "c" * 18),
        ("end", "a" * 20 + "b" * 17 + "..."),
    ],
)
def test_a_long_name_is_cut_where_asked(wrap_mode: str, expected: str) -> None:
    name = "a" * 20 + "b" * 30 + "c" * 20

    row = summary_table(make_report(Node(name, "Linear")), wrap_mode=wrap_mode).splitlines()[3]

    assert row.split("    ")[0] == expected
    assert len(expected) == 40


def test_receptive_field_columns_show_unknown_as_a_dash() -> None:
    report = make_report(CONV)
    report["layers"][0]["metrics"]["receptive_field"] = result("receptive_field", 3, "module_call")

    lines = summary_table(report, receptive_field=True, effective_rf_stats=True).splitlines()

    assert lines[1].split("    ")[-3:] == ["Receptive field", "Effective stride", "Effective padding"]
    assert lines[3].split() == ["conv2d", "Conv2d", "(1,", "8,", "30,", "30)", "224", "True", "3", "-", "-"]


@pytest.mark.parametrize(("trainable", "expected"), [(224, "True"), (0, "False"), (100, "Mixed")])
def test_trainable_says_whether_all_none_or_some(trainable: int, expected: str) -> None:
    report = make_report(CONV)
    report["layers"][0]["parameters"]["trainable_parameters"] = result("parameters", trainable, "module")

    assert summary_table(report).splitlines()[3].split()[-1] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wrap_mode": "middle"}, "wrap_mode must be one of 'start', 'mid', 'end', got 'middle'"),
        ({"max_depth": -1}, "max_depth must be None or an integer of at least 0, got -1"),
        ({"max_depth": True}, "max_depth must be None or an integer of at least 0, got True"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        summary_table(make_report(CONV), **options)
