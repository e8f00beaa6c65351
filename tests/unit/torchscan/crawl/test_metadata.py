from __future__ import annotations

import json
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
import torch
from support.small_nets import Returns, crawl, row
from torch import nn

from torchscan.metadata.describe import MAX_DEPTH, Describer, describe

TENSOR = {"kind": "tensor", "shape": [2], "dtype": "torch.float32", "device": "cpu", "requires_grad": False}
Point = namedtuple("Point", "x y")


@dataclass
class Output:
    logits: Any
    hidden: Any = None


class Color(Enum):
    RED = 1


class Hostile:
    @property
    def __class__(self):
        raise RuntimeError("no class")


class HostileList(list):
    def __iter__(self):
        raise RuntimeError("no items")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (torch.ones(2), TENSOR),
        (torch.ones(()), {**TENSOR, "shape": []}),
        (nn.Parameter(torch.ones(2)), {**TENSOR, "requires_grad": True}),
        (torch.ones(2, device="meta"), {**TENSOR, "device": "meta"}),
        (torch.ones(2).to_sparse(), {**TENSOR, "layout": "torch.sparse_coo"}),
        (None, {"kind": "none"}),
        (True, {"kind": "scalar", "type": "bool"}),
        (3, {"kind": "scalar", "type": "int"}),
        (2.5, {"kind": "scalar", "type": "float"}),
        ("secret", {"kind": "scalar", "type": "str"}),
        ((torch.ones(2), None), {"kind": "tuple", "items": [TENSOR, {"kind": "none"}]}),
        ([torch.ones(2)], {"kind": "list", "items": [TENSOR]}),
        ({"a": torch.ones(2)}, {"kind": "mapping", "items": {"a": TENSOR}}),
        ({3: None, "b": 1}, {
            "kind": "mapping", "items": {"<int 0>": {"kind": "none"}, "b": {"kind": "scalar", "type": "int"}},
        }),
        (OrderedDict(a=None), {"kind": "mapping", "type": "OrderedDict", "items": {"a": {"kind": "none"}}}),
        (Point(1, None), {
            "kind": "tuple", "type": "Point", "fields": ["x", "y"],
            "items": [{"kind": "scalar", "type": "int"}, {"kind": "none"}],
        }),
        (Output(torch.ones(2)), {
            "kind": "object", "type": "Output", "fields": {"logits": TENSOR, "hidden": {"kind": "none"}},
        }),
        (Output, {"kind": "object", "type": "type"}),
        (Color.RED, {"kind": "object", "type": "Color"}),
        ({1, 2}, {"kind": "object", "type": "set"}),
        (HostileList([1]), {"kind": "object", "type": "HostileList"}),
        (torch.float32, {"kind": "object", "type": "dtype"}),
    ],
)  # fmt: skip
def test_each_kind_of_value(value, expected):
    assert describe(value) == expected


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_gets_no_invented_shape():
    strided = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    described = describe(strided)
    assert described == {"kind": "nested_tensor", "dtype": "torch.float32", "device": "cpu", "requires_grad": False}


def test_a_packed_sequence_is_described_by_its_fields():
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(5, 2, 3), [5, 3])
    described = describe(packed)
    assert (described["type"], described["items"][0]["shape"]) == ("PackedSequence", [8, 3])


def test_a_model_output_keeps_its_fields():
    outputs = pytest.importorskip("transformers.modeling_outputs")
    described = describe(outputs.BaseModelOutput(last_hidden_state=torch.ones(2)))
    assert described == {"kind": "mapping", "type": "BaseModelOutput", "items": {"last_hidden_state": TENSOR}}


def test_a_container_that_holds_itself_ends():
    items: list[Any] = [1]
    items.append({"again": items})
    assert describe(items)["items"][1]["items"]["again"] == {"kind": "object", "type": "list", "is_recursive": True}


def test_the_same_container_twice_is_no_recursion():
    inner = [torch.ones(2)]
    assert describe([inner, inner])["items"] == [{"kind": "list", "items": [TENSOR]}] * 2


def test_endless_depth_ends():
    deep: Any = torch.ones(2)
    for _ in range(10_000):
        deep = [deep]
    described, depth = describe(deep), 0
    while described["kind"] == "list":
        (described,), depth = described["items"], depth + 1
    assert (depth, described) == (MAX_DEPTH, {"kind": "object", "type": "list"})


def test_no_value_is_kept():
    text = json.dumps(describe({"a": ["secret", 12345, torch.full((2,), 67890.0), b"hidden", 1 + 2j], 98765: None}))
    assert not [word for word in ("secret", "12345", "67890", "hidden", "98765", "2j") if word in text]


def test_equal_tensors_share_one_description():
    describer = Describer()
    assert describer.value(torch.ones(2)) is describer.value(torch.zeros(2))
    assert describer.call((torch.ones(2),), {}) is describer.call((torch.zeros(2),), {})
    assert describer.value(torch.ones(2)) is not describer.value(torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("value", ["text", None, 3, Output(torch.ones(2)), {"x": [None, "y"]}, object()])
def test_any_output_is_described_and_never_summed(value):
    report = crawl(nn.Sequential(Returns(value)))  # case 26
    assert row(report, "0")["output"] == describe(value)
    json.dumps(report, allow_nan=False)


def test_the_mask_of_the_quickstart():
    class MaskedModel(nn.Module):
        def forward(self, input_ids, *, attention_mask):
            return input_ids * attention_mask

    mask = torch.tensor([[True, True, False, False]])
    report = crawl(MaskedModel(), torch.ones(1, 4), kwargs={"attention_mask": mask})
    assert report["inputs"]["kwargs"]["attention_mask"] == {
        "kind": "tensor", "shape": [1, 4], "dtype": "torch.bool", "device": "cpu", "requires_grad": False,
    }  # fmt: skip
