from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from support.small_nets import Looped, Residual, Scaled, codes, crawl, measured, row, total
from torch import nn

from torchscan import ModuleCall, ModuleHandler, crawl_module
from torchscan.report.metric import complete, partial, unavailable

WORK = ("module_flops", "macs", "dmas")


def answers(**estimates: Any) -> ModuleHandler:
    return ModuleHandler(lambda call: estimates)  # type: ignore[arg-type, return-value]


def macs(make: Any, value: int | None = None, unit: str = "MACs") -> Any:
    numbers = () if value is None else (value,)
    return make(*numbers, unit=unit, scope="module_call", method="measured by hand")


class Twice(nn.Module):
    """A composite without a formula."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))


def test_a_number_is_complete_and_carries_the_callbacks_name():
    report = crawl(Scaled(), custom_modules={Scaled: ModuleHandler(count_scaled)})
    assert measured(report, "", "module_flops") == ("complete", 3)
    assert row(report, "")["metrics"]["module_flops"]["method"] == (f"custom_module_handler:{__name__}.count_scaled")
    assert total(report, "module_flops") == ("complete", 3)


def count_scaled(call: ModuleCall) -> Any:
    return {"module_flops": call.output.numel(), "macs": 0, "dmas": 2.0 * call.output.numel()}


def test_the_callback_sees_the_actual_call():
    seen: list[ModuleCall] = []

    class Takes(nn.Module):
        def forward(self, x: Any, *rest: Any, flag: Any = None, unused: int = 3) -> Any:
            return {"x": x, "rest": rest}

    x, items = torch.ones(1, 3), [None, "text"]
    module = Takes()
    handler = ModuleHandler(lambda call: seen.append(call) or {})  # type: ignore[arg-type, func-returns-value, return-value]
    crawl_module(module, args=(x, items), kwargs={"flag": x}, custom_modules={Takes: handler})
    (call,) = seen
    assert call.module is module
    assert call.args[0] is x
    assert call.args[1] is items
    assert call.kwargs == {"flag": x}
    assert call.output["x"] is x


def test_callbacks_run_once_for_each_completed_call_without_gradients_or_counting():
    modes: list[tuple[bool, bool]] = []

    def estimate(call: ModuleCall) -> Any:
        modes.append((call.module.training, torch.is_grad_enabled()))
        call.args[0] @ torch.ones(3, 100)
        return {"macs": 1}

    report = crawl(Looped(4).train(), custom_modules={nn.Linear: ModuleHandler(estimate)})
    assert modes == [(False, False)] * 4
    assert total(report, "macs") == ("complete", 4)
    assert total(report, "operator_macs") == ("complete", 36)


def test_a_callback_that_calls_modules_adds_no_rows():
    def estimate(call: ModuleCall) -> Any:
        call.module.first(call.args[0])
        return {}

    report = crawl(Twice(), custom_modules={Twice: ModuleHandler(estimate)})
    assert [each["path"] for each in report["layers"]] == ["", "first", "second"]


def test_the_closest_class_wins_whatever_the_order():
    class Mine(nn.Linear):
        pass

    forward = {nn.Linear: answers(macs=1), Mine: answers(macs=2)}
    for handlers in (forward, dict(reversed(forward.items()))):
        assert total(crawl(Mine(3, 3), custom_modules=handlers), "macs") == ("complete", 2)
        assert total(crawl(nn.Linear(3, 3), custom_modules=handlers), "macs") == ("complete", 1)


def test_a_callers_handler_on_a_base_class_precedes_a_built_in_formula():
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Module: answers(macs=7)})
    assert total(report, "macs") == ("complete", 7)


def test_a_virtual_subclass_does_not_match():
    from abc import ABCMeta

    class Meta(ABCMeta):
        pass

    class Interface(nn.Module, metaclass=Meta):
        pass

    Interface.register(Scaled)
    assert total(crawl(Scaled(), custom_modules={Interface: answers(macs=1)}), "macs")[0] == "unavailable"


def test_an_omitted_field_of_a_leaf_falls_back_to_the_built_in_formula():
    report = crawl(nn.Linear(3, 2), custom_modules={nn.Linear: answers(macs=100)})
    assert measured(report, "", "macs") == ("complete", 100)
    assert measured(report, "", "module_flops") == ("complete", 12)
    assert row(report, "")["metrics"]["module_flops"]["method"] == "torchscan_flops_v1"


def test_an_omitted_field_of_a_composite_falls_back_to_its_children():
    report = crawl(Twice(), custom_modules={Twice: answers(dmas=5)})
    assert measured(report, "", "macs") == ("complete", 18)
    assert measured(report, "", "dmas") == ("complete", 5)  # its own work, beside that of its children
    assert total(report, "dmas") == ("complete", 5 + 2 * (3 + 12 + 3))
    assert row(report, "")["metric_ownership"] == {"dmas": "module_call"}


def test_an_omitted_field_of_a_leaf_without_formula_is_unavailable_and_named():
    report = crawl(Scaled(), custom_modules={Scaled: answers(macs=0)})
    assert measured(report, "", "macs") == ("complete", 0)
    assert measured(report, "", "module_flops") == ("unavailable", None)
    assert ("unsupported_module_metric", "", "module_flops") in codes(report)


def test_an_owner_covers_its_subtree_and_the_rows_say_so():
    handler = ModuleHandler(lambda call: {"macs": 1000}, frozenset({"macs"}))
    report = crawl(nn.Sequential(Twice(), nn.Linear(3, 3)), custom_modules={Twice: handler})
    assert total(report, "macs") == ("complete", 1009)
    assert row(report, "0")["metric_ownership"] == {"macs": "subtree"}
    assert row(report, "0.first")["metric_owners"] == {"macs": {"path": "0", "call_index": 0}}
    assert "macs" not in row(report, "0.first")["metrics"]
    assert measured(report, "0.first", "module_flops") == ("complete", 18)
    assert "metric_owners" not in row(report, "1")
    assert total(report, "module_flops") == ("complete", 54)


def test_the_outermost_owner_covers_owners_inside_it():
    owner = frozenset({"macs"})
    handlers = {
        nn.Sequential: ModuleHandler(lambda call: {"macs": 5}, owner),
        Twice: ModuleHandler(lambda call: {"macs": 7}, owner),
    }
    report = crawl(nn.Sequential(Twice()), custom_modules=handlers)
    assert total(report, "macs") == ("complete", 5)
    for path in ("0", "0.first"):
        assert row(report, path)["metric_owners"]["macs"]["path"] == ""


def test_ownership_follows_calls_and_not_the_tree():
    class Shares(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.owner = Twice()
            self.free = nn.Sequential(self.owner.first)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.free(self.owner(x))

    handler = ModuleHandler(lambda call: {"macs": 1000}, frozenset({"macs"}))
    report = crawl(Shares(), custom_modules={Twice: handler})
    assert "macs" not in row(report, "owner.first", 0)["metrics"]
    assert measured(report, "owner.first", "macs", 1) == ("complete", 9)
    assert total(report, "macs") == ("complete", 1009)


@pytest.mark.parametrize("answer", [{}, None, ValueError("no")])
def test_ownership_persists_when_the_callback_gives_nothing(answer):
    def estimate(call: ModuleCall) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    report = crawl(Twice(), custom_modules={Twice: ModuleHandler(estimate, frozenset({"macs"}))})
    assert total(report, "macs") == ("unavailable", None)
    assert "macs" not in row(report, "first")["metrics"]
    assert row(report, "first")["metric_owners"]["macs"]["path"] == ""


def test_an_exception_of_a_callback_becomes_a_diagnostic():
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: ModuleHandler(lambda call: 1 // 0)})  # type: ignore[arg-type, return-value]
    assert [total(report, metric)[0] for metric in WORK] == ["unavailable"] * 3
    (found,) = [each for each in report["diagnostics"] if each["code"] == "custom_handler_error"]
    assert (found["path"], found["severity"]) == ("", "error")
    assert "ZeroDivisionError" in found["message"]


def test_an_interrupt_in_a_callback_propagates():
    def estimate(call: ModuleCall) -> Any:
        raise KeyboardInterrupt

    module = nn.Sequential(nn.Linear(3, 3))
    with pytest.raises(KeyboardInterrupt):
        crawl(module, custom_modules={nn.Linear: ModuleHandler(estimate)})
    assert not module[0]._forward_hooks


@pytest.mark.parametrize("answer", [None, 3, [("macs", 1)], "macs", {"macs"}])
def test_an_answer_that_is_no_mapping_is_named(answer):
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: ModuleHandler(lambda call: answer)})
    assert ("custom_handler_invalid", "", "module_metrics") in codes(report)
    assert total(report, "macs") == ("unavailable", None)


@pytest.mark.parametrize(
    "value",
    [
        True, "9", -1, float("nan"), float("inf"), 3 + 0j, torch.tensor(3), [9], macs(complete, 9, "FLOPs"),
        {"status": "complete"}, {**macs(complete, 9), "value": 8}, {**macs(complete, 9), "status": "partial"},
        {**macs(unavailable), "status": "fine"}, {**macs(complete, 9), "scope": 3}, {**macs(complete, 9), "extra": 1},
        {**macs(complete, 9), "status": []}, {**macs(complete, 9), "value": torch.ones(2)},
        10**400, {**macs(complete, 9), "value": 10**400, "known_value": 10**400},
    ],
)  # fmt: skip
def test_a_value_that_is_no_estimate_is_unavailable_and_named(value):
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: answers(macs=value)})
    assert total(report, "macs") == ("unavailable", None)
    assert ("custom_metric_invalid", "", "macs") in codes(report)
    assert total(report, "module_flops")[0] == "complete"


def test_an_answer_that_cannot_be_read_is_named():
    class Hostile(Mapping[str, int]):
        def __iter__(self) -> Any:
            raise RuntimeError("no keys")

        def __len__(self) -> int:
            return 1

        def __getitem__(self, key: str) -> int:
            return 1

    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: ModuleHandler(lambda call: Hostile())})
    assert ("custom_handler_error", "", "module_metrics") in codes(report)


def test_an_unknown_metric_is_named_and_the_rest_is_kept():
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: answers(macs=1, flops=2)})
    assert ("custom_metric_invalid", "", "flops") in codes(report)
    assert total(report, "macs") == ("complete", 1)


def test_a_structured_result_is_taken_as_given():
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: answers(macs=macs(partial, 4))})
    assert row(report, "")["metrics"]["macs"] == macs(partial, 4)
    assert total(report, "macs") == ("partial", 4)
    assert ("custom_metric_partial", "", "macs") in codes(report)


@pytest.mark.parametrize("value", [None, macs(unavailable)])
def test_an_explicitly_unavailable_metric_is_named(value):
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: answers(macs=value)})
    assert total(report, "macs") == ("unavailable", None)
    assert ("custom_metric_unavailable", "", "macs") in codes(report)


def test_numbers_of_other_libraries_are_numbers():
    numpy = pytest.importorskip("numpy")
    report = crawl(nn.Linear(3, 3), custom_modules={nn.Linear: answers(macs=numpy.int64(7), dmas=numpy.float32(2))})
    assert total(report, "macs") == ("complete", 7)
    assert type(report["totals"]["macs"]["value"]) is int
    assert total(report, "dmas") == ("complete", 2.0)


def test_structure_mode_runs_no_handler():
    handler = ModuleHandler(lambda call: pytest.fail("structure mode asked a handler"))
    crawl(nn.Linear(3, 3), mode="structure", custom_modules={nn.Linear: handler})


def test_complex_work_counts_under_the_callers_handler():
    class Multiplies(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2j

    handler = ModuleHandler(lambda call: {"module_flops": 6 * call.output.numel(), "macs": 0, "dmas": 2})
    report = crawl(Multiplies(), torch.ones(1, 4, dtype=torch.complex64), custom_modules={Multiplies: handler})
    assert total(report, "module_flops") == ("complete", 24)


def test_an_operator_formula_of_the_caller_counts_and_changes_nothing_global():
    import torch.utils.flop_counter

    before = dict(torch.utils.flop_counter.flop_registry)
    mapping = {torch.ops.aten.add: lambda a, b, *, out_shape, **_: 1000}
    report = crawl(Residual(), custom_mapping=mapping)
    assert measured(report, "", "operator_flops") == ("complete", 1000)
    assert torch.utils.flop_counter.flop_registry == before
    assert measured(crawl(Residual()), "", "operator_flops") == ("complete", 3)
