from __future__ import annotations

import json
from math import prod
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from torchscan import measure_flops

SIN = torch.ops.aten.sin


def test_the_readme_s_sine_is_a_lower_bound_that_names_its_operator() -> None:
    inputs = torch.ones(8)

    report = measure_flops(lambda: torch.sin(inputs))

    assert report["total"] == {
        "status": "partial",
        "value": None,
        "known_value": 0,
        "unit": "FLOPs",
        "scope": "workload",
        "method": "torch.utils.flop_counter.FlopCounterMode",
    }
    assert report["diagnostics"][0]["operator"] == "aten.sin"
    assert report["diagnostics"][0]["code"] == "uncounted_operator"


def test_the_caller_s_formula_completes_it() -> None:
    inputs = torch.ones(8)

    report = measure_flops(
        lambda: torch.sin(inputs), custom_mapping={SIN: lambda input_shape, *, out_shape: prod(out_shape)}
    )

    assert (report["total"]["status"], report["total"]["value"]) == ("complete", 8)


def test_the_caller_s_formula_beats_ours_and_pytorch_s() -> None:
    values = torch.rand(3, 4)

    def workload() -> torch.Tensor:
        return (values @ values.t()).sin()

    report = measure_flops(
        workload,
        custom_mapping={SIN: lambda shape, *, out_shape: 7, torch.ops.aten.mm: lambda a, b, *, out_shape: 5},
        formulas="extended",
    )

    assert report["by_operator"] == {"aten.mm": 5, "aten.sin": 7}
    assert report["total"]["method"] == "torchscan_operators_v1"


def test_the_workload_runs_once_and_nothing_is_remembered() -> None:
    runs: list[int] = []
    layer, values = nn.Linear(4, 5), torch.rand(3, 4)

    def workload() -> None:
        runs.append(1)
        layer(values)

    first, second = measure_flops(workload), measure_flops(workload)

    assert len(runs) == 2
    assert first == second
    json.dumps(first, allow_nan=False)


def test_ignored_operators_carry_calls_and_a_reason() -> None:
    values = torch.rand(3, 4)

    report = measure_flops(lambda: [values.t(), values.t(), torch.zeros(2)])

    assert report["total"]["status"] == "complete"
    assert {found["operator"]: found["calls"] for found in report["ignored_operators"]} == {
        "aten.t": 2,
        "aten.zeros": 1,
    }
    assert all(found["reason"] for found in report["ignored_operators"])


def test_exceptions_pass_through_unchanged() -> None:
    error = KeyError("mine")

    def workload() -> None:
        raise error

    with pytest.raises(KeyError) as caught:
        measure_flops(workload)
    assert caught.value is error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"workload": 3}, "workload must be a callable"),
        ({"modules": "net"}, "modules must be"),
        ({"modules": [3]}, "modules must be"),
        ({"custom_mapping": [SIN]}, "custom_mapping must map operator packets"),
        ({"custom_mapping": {"aten.sin": len}}, "keys are operator packets"),
        ({"custom_mapping": {SIN.default: len}}, r"use torch\.ops\.aten\.sin"),
        ({"custom_mapping": {SIN: 3}}, "must be callable"),
    ],
)
def test_bad_arguments_are_named_before_anything_runs(arguments: dict[str, Any], words: str) -> None:
    def workload() -> None:
        raise AssertionError("must not run")

    with pytest.raises(TypeError, match=words):
        measure_flops(**{"workload": workload, **arguments})


def test_an_unknown_view_is_refused() -> None:
    with pytest.raises(ValueError, match="'native', 'extended'"):
        measure_flops(lambda: None, formulas="all")  # type: ignore[arg-type]


def test_modules_label_the_work_as_pytorch_does_and_keep_no_hooks() -> None:
    net = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 6))
    values = torch.rand(3, 4)
    with FlopCounterMode(display=False) as reference:
        net(values)
    expected = {
        label: {str(operator): count for operator, count in counts.items()}
        for label, counts in reference.get_flop_counts().items()
    }

    report = measure_flops(lambda: net(values), modules=net)

    assert report["by_module"] == expected
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in net.modules())


def test_labels_survive_a_module_that_raises() -> None:
    class Failing(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("inside")

    net = nn.ModuleDict({"failing": Failing(), "linear": nn.Linear(4, 5)})

    def workload() -> None:
        with pytest.raises(ValueError, match="inside"):
            net["failing"](torch.rand(1))
        net["linear"](torch.rand(3, 4))

    report = measure_flops(workload, modules=[net])

    assert report["by_module"]["ModuleDict.linear"] == {"aten.addmm": 120}
    assert "ModuleDict.failing" not in report["by_module"]


def test_globally_registered_formulas_are_seen_and_the_registry_is_left_alone() -> None:
    from torch.utils import flop_counter

    before = dict(flop_counter.flop_registry)
    flop_counter.register_flop_formula(SIN)(lambda shape, out_shape=None: 3)
    try:
        assert measure_flops(lambda: torch.ones(8).sin())["total"]["value"] == 3
    finally:
        del flop_counter.flop_registry[SIN]

    measure_flops(lambda: torch.ones(8).sin(), custom_mapping={SIN: lambda shape, *, out_shape: 1})
    assert dict(flop_counter.flop_registry) == before


def test_a_pytorch_without_formulas_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.utils import flop_counter

    monkeypatch.delattr(flop_counter, "flop_registry")

    with pytest.raises(NotImplementedError, match="no table of operator formulas"):
        measure_flops(lambda: None)
