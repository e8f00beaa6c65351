from __future__ import annotations

import random

import pytest
import torch
from support.small_nets import Returns, crawl
from torch import nn

from torchscan import crawl_module


class Remembers(nn.Module):
    """Keeps the arguments of its call."""

    def forward(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs
        return args


def received(shape, dtype=None, **options):
    module = Remembers()
    crawl_module(module, shape, dtype, **options)
    return module.args


def test_a_shape_gets_a_batch_of_one_and_float32_on_the_cpu_without_parameters():
    (x,) = received((3, 4))
    assert (x.shape, x.dtype, x.device.type) == ((1, 3, 4), torch.float32, "cpu")


def test_one_tensor_for_each_shape_of_a_list():
    assert [tuple(x.shape) for x in received([(4,), (6,), ()])] == [(1, 4), (1, 6), (1,)]


def test_one_dtype_applies_to_all_and_an_iterable_gives_one_each():
    assert [x.dtype for x in received([(2,), (3,)], torch.float64)] == [torch.float64] * 2
    assert [x.dtype for x in received([(2,), (3,)], iter([torch.long, torch.bool]))] == [torch.long, torch.bool]


def test_integers_are_zero_and_booleans_true():
    number, flag = received([(2,), (2,)], (torch.int32, torch.bool))
    assert number.tolist() == [[0, 0]]
    assert flag.tolist() == [[True, True]]


def test_dtype_and_device_follow_the_first_parameter_then_the_first_buffer():
    with_parameter = nn.Linear(2, 2, dtype=torch.float64, device="meta")
    assert crawl_module(with_parameter, (2,))["inputs"]["args"][0] == {
        "kind": "tensor", "shape": [1, 2], "dtype": "torch.float64", "device": "meta", "requires_grad": False,
    }  # fmt: skip
    with_buffer = Remembers()
    with_buffer.register_buffer("table", torch.ones(2, dtype=torch.bfloat16))
    crawl_module(with_buffer, (2,))
    assert with_buffer.args[0].dtype is torch.bfloat16


def test_a_device_can_be_chosen():
    assert received((2,), device="meta")[0].device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_generating_inputs_draws_no_random_number(dtype):
    before = torch.get_rng_state(), random.getstate()
    received((3,), dtype)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


def test_the_callers_arguments_are_forwarded_as_they_are():
    module, x, items = Remembers(), torch.ones(2, requires_grad=True), [1, {"a": None}]
    crawl_module(module, args=(x, items), kwargs={"flag": True})
    assert module.args[0] is x
    assert module.args[1] is items
    assert module.kwargs == {"flag": True}


def test_a_call_of_keyword_arguments_alone_is_valid():
    report = crawl_module(Remembers(), kwargs={"x": torch.ones(2)})
    assert report["inputs"]["source"] == "caller"
    assert report["inputs"]["args"] == []
    assert report["inputs"]["kwargs"]["x"]["shape"] == [2]


def test_a_call_without_any_argument_is_valid_when_asked_for():
    assert crawl_module(Returns(None), args=())["inputs"] == {"source": "caller", "args": [], "kwargs": {}}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, ValueError, "input_shape"),
        ({"input_shape": (3,), "args": (1,)}, ValueError, "args"),
        ({"input_shape": (3,), "kwargs": {}}, ValueError, "kwargs"),
        ({"args": (1,), "dtype": torch.float32}, ValueError, "dtype"),
        ({"kwargs": {"x": 1}, "device": "cpu"}, ValueError, "device"),
        ({"args": [1]}, TypeError, "args must be a tuple"),
        ({"args": torch.ones(3)}, TypeError, "args must be a tuple"),
        ({"kwargs": [1]}, TypeError, "kwargs must be a mapping"),
        ({"kwargs": {1: 2}}, TypeError, "kwargs"),
        ({"input_shape": []}, ValueError, "input_shape"),
        ({"input_shape": 3}, TypeError, "input_shape"),
        ({"input_shape": [3, 32, 32]}, TypeError, r"input_shape\[0\]"),
        ({"input_shape": (3, -1)}, ValueError, "negative"),
        ({"input_shape": (3, 1.5)}, TypeError, "input_shape"),
        ({"input_shape": (True,)}, TypeError, "input_shape"),
        ({"input_shape": (3,), "dtype": "float32"}, TypeError, "dtype"),
        ({"input_shape": (3,), "dtype": [torch.float32] * 2}, ValueError, "2 dtypes for 1 shapes"),
        ({"input_shape": (3,), "dtype": [3]}, TypeError, "dtype"),
        ({"input_shape": (3,), "device": 3}, TypeError, "device"),
        ({"input_shape": (3,), "device": "nowhere"}, ValueError, "device"),
        ({"input_shape": (3,), "mode": "fast"}, ValueError, "mode accepts 'full', 'structure'"),
        ({"input_shape": (3,), "formulas": "all"}, ValueError, "formulas"),
        ({"input_shape": (3,), "mode": "structure", "formulas": "all"}, ValueError, "formulas"),
        ({"input_shape": (3,), "custom_mapping": {torch.ops.aten.sin: 3}}, TypeError, "custom_mapping"),
        ({"input_shape": (3,), "custom_modules": []}, TypeError, "custom_modules"),
        ({"input_shape": (3,), "custom_modules": {nn.Linear(1, 1): None}}, TypeError, "custom_modules"),
        ({"input_shape": (3,), "custom_modules": {nn.Linear: lambda call: {}}}, TypeError, "ModuleHandler"),
    ],
)
def test_a_bad_argument_is_named_before_the_model_runs(options, error, words):
    module = Remembers()
    with pytest.raises(error, match=words):
        crawl_module(module, **options)
    assert not hasattr(module, "args")


def test_something_that_is_no_module_is_named():
    with pytest.raises(TypeError, match=r"torch\.nn\.Module, got function"):
        crawl_module(crawl, (3,))
    with pytest.raises(TypeError, match="pass an instance"):
        crawl_module(nn.ReLU, (3,))
