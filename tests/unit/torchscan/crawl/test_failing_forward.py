from __future__ import annotations

import json

import pytest
import torch
from support.small_nets import Raises, crawl
from torch import nn

from torchscan import crawl_module


@pytest.mark.parametrize("mode", ["full", "structure"])
@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_the_exception_carries_the_rows_up_to_the_failing_call(mode, error):
    model = nn.Sequential(nn.Linear(3, 3), Raises(error), nn.Linear(3, 3))
    with pytest.raises(type(error)) as caught:
        crawl_module(model, (3,), mode=mode)
    assert caught.value is error
    rows = caught.value.torchscan_rows
    json.dumps(rows, allow_nan=False)
    assert [(each["path"], each["output"]["kind"]) for each in rows] == [
        ("", "failed"), ("0", "tensor"), ("1", "failed"), ("1.linear", "tensor"),
    ]  # fmt: skip
    assert "'1' (Raises, call 0), after 2 completed module calls" in caught.value.__notes__[0]


def test_a_wrong_shape_is_told_with_the_layer_that_refused_it():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(3, 2))
    with pytest.raises(RuntimeError) as caught:
        crawl_module(model, (3,))
    assert "'2' (Linear, call 0)" in caught.value.__notes__[0]
    assert caught.value.torchscan_rows[1]["output"]["shape"] == [1, 4]
    assert caught.value.torchscan_rows[1]["metrics"]["macs"]["value"] == 12


def test_lazy_parameters_of_a_failed_forward_are_unavailable():
    model = nn.Sequential(Raises(ValueError("no")), nn.LazyLinear(3))
    with pytest.raises(ValueError, match="no") as caught:
        crawl(model)
    assert [each["path"] for each in caught.value.torchscan_rows] == ["", "0", "0.linear"]
    lazy = nn.Sequential(nn.LazyLinear(3))
    with pytest.raises(IndexError) as caught_early:
        crawl(lazy, torch.ones(()))
    row = caught_early.value.torchscan_rows[1]
    assert row["output"] == {"kind": "failed"}
    assert row["parameters"]["parameters"]["status"] == "unavailable"


def test_an_exception_that_takes_no_attributes_propagates_all_the_same():
    class Closed(Exception):  # a name for the test
        __slots__ = ()

        def __setattr__(self, name, value):
            if not name.startswith("__"):  # Python itself sets the traceback
                raise AttributeError(name)
            super().__setattr__(name, value)

    with pytest.raises(Closed) as caught:
        crawl(Raises(Closed()))
    assert not hasattr(caught.value, "torchscan_rows")


def test_a_module_that_fails_itself_is_named_as_the_model():
    with pytest.raises(RuntimeError) as caught:
        crawl_module(nn.Linear(3, 3), (4,))
    assert "the model itself" in caught.value.__notes__[0]
