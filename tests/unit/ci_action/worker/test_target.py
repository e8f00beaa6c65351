"""What a factory may return, and what is said of everything else."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from ci_action.worker.load import FactoryError
from ci_action.worker.target import as_target, build, with_arguments

NET, INPUT = nn.Linear(2, 3), torch.zeros(1, 2)


@pytest.mark.parametrize(
    "returned",
    [
        (NET, (INPUT,)),
        (NET, (INPUT,), {}),
        {"model": NET, "args": (INPUT,)},
        {"model": NET, "kwargs": {"input": INPUT}},
    ],
)
def test_every_documented_form_can_be_called(returned: Any) -> None:
    target = with_arguments(as_target(returned))
    assert target.model is NET
    assert target.model(*(target.args or ()), **(target.kwargs or {})).shape == (1, 3)


def test_a_lone_module_is_accepted_where_it_needs_no_input() -> None:
    class Constant(nn.Module):
        def forward(self) -> torch.Tensor:
            return torch.zeros(1)

    assert with_arguments(as_target(Constant())).args == ()


def test_the_owners_formulas_are_carried_along() -> None:
    target = as_target({"model": NET, "custom_modules": {nn.Linear: "handler"}, "custom_mapping": {}, "work_units": 8})
    assert target.custom_modules == {nn.Linear: "handler"}
    assert target.work_units == 8


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "the factory returned None"),
        (3, "the factory returned an object of type int"),
        ((), "the factory returned an empty tuple"),
        ((NET,), "the factory returned a tuple of Linear"),
        ((INPUT, NET), "the factory returned a tuple of Tensor, Linear"),
        ((NET, INPUT), "the factory's args is an object of type Tensor: a tuple is needed, as in (module, (inputs,))"),
        ((NET, (INPUT,), 3), "the factory's kwargs is an object of type int"),
        ({"modle": NET}, "the factory's dict has the key 'modle'; accepted are args, custom_mapping"),
        ({"model": nn.Linear}, "the factory's model is an object of type type"),
        ({"workload": 3}, "the factory's workload is an object of type int"),
    ],
)
def test_everything_else_is_named_with_what_is_accepted(returned: Any, said: str) -> None:
    with pytest.raises(FactoryError) as caught:
        as_target(returned)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (NET, "the factory gave no inputs for Linear.forward (missing a required argument: 'input')"),
        ((NET, (INPUT, INPUT)), "the factory gave inputs that do not fit for Linear.forward (too many"),
        ({"workload": print}, "an analysis needs a model, and the factory gave none"),
    ],
)
def test_a_call_that_cannot_work_is_refused_before_it_runs(returned: Any, said: str) -> None:
    with pytest.raises(FactoryError) as caught:
        with_arguments(as_target(returned))
    assert str(caught.value).startswith(said)


def test_on_meta_everything_is_built_without_memory() -> None:
    def factory() -> Any:
        return nn.Linear(1 << 18, 1 << 18), (torch.zeros(1, 1 << 18),), {}

    built = build(factory, "meta")
    assert built.model is not None
    assert built.args is not None
    assert {parameter.device.type for parameter in built.model.parameters()} == {"meta"}
    assert built.args[0].device.type == "meta"


def test_nested_inputs_are_moved_with_the_model() -> None:
    def factory() -> Any:
        with torch.device("cpu"):  # as torch.from_numpy would make them
            inputs = {"a": [torch.zeros(1)], "b": (torch.zeros(1), 3, None)}
        return {"model": nn.Identity(), "args": (inputs,)}

    built = build(factory, "meta")
    assert built.args is not None
    (moved,) = built.args
    assert moved["a"][0].device.type == moved["b"][0].device.type == "meta"
    assert moved["b"][1:] == (3, None)


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without a CUDA device")
def test_a_missing_device_is_said_before_anything_is_built() -> None:
    with pytest.raises(FactoryError, match="torch finds no CUDA device here"):
        build(lambda: pytest.fail("the factory was called"), "cuda")
