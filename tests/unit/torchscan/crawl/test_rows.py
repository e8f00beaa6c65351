from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress

import torch
from support.small_nets import Looped, Raises, Residual, Returns, Swallows, codes, crawl, measured, row, total
from torch import nn

from torchscan import crawl_module
from torchscan.report.analysis import LAYER_METRICS


class Routed(nn.Module):
    """Calls its children in another order than it holds them, and one through two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.block = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))
        self.again = self.first

    def forward(self, x, *, scale):
        return self.block(self.again(self.first(x * scale)))


def test_rows_stand_in_execution_order_under_the_first_full_path():
    report = crawl(Routed(), torch.ones(1, 3), kwargs={"scale": 2.0})
    assert [(each["path"], each["call_index"], each["name"], each["depth"]) for each in report["layers"]] == [
        ("", 0, "routed", 0), ("first", 0, "first", 1), ("first", 1, "first", 1),
        ("block", 0, "block", 1), ("block.0", 0, "0", 2), ("block.1", 0, "1", 2),
    ]  # fmt: skip


def test_a_row_describes_input_and_output():
    report = crawl(Routed(), torch.ones(1, 3), kwargs={"scale": 2.0})
    assert row(report, "")["input"]["kwargs"] == {"scale": {"kind": "scalar", "type": "float"}}
    assert row(report, "block.1")["input"]["args"][0]["shape"] == [1, 3]
    assert row(report, "block.1")["output"]["shape"] == [1, 2]


def test_full_rows_carry_every_metric_and_structure_rows_calls_only():
    full, structure = (crawl_module(Residual(), (3,), mode=mode) for mode in ("full", "structure"))
    assert [tuple(each["metrics"]) for each in full["layers"]] == [LAYER_METRICS] * 2
    assert [list(each["metrics"]) for each in structure["layers"]] == [["calls"]] * 2
    for one, other in zip(full["layers"], structure["layers"], strict=True):
        assert one | {"metrics": {}} == other | {"metrics": {}}


def test_a_call_that_raised_inside_a_model_that_went_on_is_failed():
    report = crawl(Swallows(ValueError("no")))
    assert [(each["path"], each["output"]["kind"]) for each in report["layers"]] == [
        ("", "tensor"), ("broken", "failed"), ("broken.linear", "tensor"), ("linear", "tensor"),
    ]  # fmt: skip
    assert measured(report, "broken", "macs") == ("unavailable", None)
    assert measured(report, "broken", "module_flops") == ("unavailable", None)
    assert measured(report, "linear", "macs") == ("complete", 9)
    assert report["totals"]["macs"] == {**report["totals"]["macs"], "status": "partial", "known_value": 18}
    assert ("module_forward_error", "broken", "module_metrics") in codes(report)
    assert report["totals"]["operator_flops"]["status"] == "complete"  # what ran was dispatched and counted


def test_a_failed_call_is_named_in_structure_mode_too():
    report = crawl(Swallows(ValueError("no")), mode="structure")
    assert row(report, "broken")["output"] == {"kind": "failed"}
    assert ("module_forward_error", "broken", "module_metrics") in codes(report)


def test_work_after_a_failed_call_belongs_to_the_caller():
    class Recovers(Swallows):
        def forward(self, x):
            try:
                self.broken(x)
            except ValueError:
                return x * 2

    report = crawl(Recovers(ValueError("no")))
    assert measured(report, "", "operator_flops") == ("complete", 3)
    assert measured(report, "broken", "operator_flops") == ("complete", 0)


def test_an_interrupt_swallowed_by_the_model_leaves_the_order_intact():
    class SwallowsEverything(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.broken, self.linear = Raises(KeyboardInterrupt()), nn.Linear(3, 3)

        def forward(self, x):
            with suppress(KeyboardInterrupt):
                self.broken(x)
            return self.linear(x)

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.last = SwallowsEverything(), nn.Linear(3, 3)

        def forward(self, x):
            return self.last(self.inner(x))

    report = crawl(Outer())
    assert [each["path"] for each in report["layers"]][-1] == "last"
    assert row(report, "inner.broken")["output"] == {"kind": "failed"}
    assert row(report, "inner")["output"]["kind"] == "tensor"


def test_none_returned_while_an_exception_is_handled_is_no_failure():
    class Handles(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.silent = Returns(None)

        def forward(self, x):
            try:
                raise ValueError
            except ValueError:
                self.silent(x)
            return x

    assert row(crawl(Handles()), "silent")["output"] == {"kind": "none"}


def test_operator_flops_are_exclusive_and_add_up_to_the_total():
    report = crawl(Residual())
    assert measured(report, "", "operator_flops") == ("complete", 3)  # the addition
    assert measured(report, "linear", "operator_flops") == ("complete", 18)
    assert report["totals"]["operator_flops"]["value"] == 21


def test_operators_are_told_by_module_and_everything_above_it():
    report = crawl(Residual())
    by_module = report["operator_flops"]["by_module"]
    assert by_module["Global"] == by_module["Residual"]
    assert sum(by_module["Global"].values()) == 21
    assert sum(by_module["Residual.linear"].values()) == 18


def test_a_pre_hook_that_replaces_the_input_is_seen_in_the_row():
    module = nn.Sequential(nn.Linear(3, 3))
    module[0].register_forward_pre_hook(lambda _, args: (torch.ones(5, 3),))
    report = crawl(module)
    assert row(report, "0")["input"]["args"][0]["shape"] == [5, 3]
    assert measured(report, "0", "macs") == ("complete", 45)


def test_a_recursive_module_gets_a_row_for_each_call():
    class Countdown(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, n=2):
            return self.linear(x) if n == 0 else self(x, n - 1)

    report = crawl(nn.Sequential(Countdown()))
    assert [(each["path"], each["call_index"]) for each in report["layers"]] == [
        ("", 0), ("0", 0), ("0", 1), ("0", 2), ("0.linear", 0),
    ]  # fmt: skip
    report = crawl(Countdown())
    assert [(each["path"], each["call_index"]) for each in report["layers"]] == [
        ("", 0), ("", 1), ("", 2), ("linear", 0),
    ]  # fmt: skip
    assert total(report, "macs") == ("complete", 9)


def test_equal_calls_give_byte_identical_json():
    first, second = (json.dumps(crawl_module(Looped(3), (3,)), allow_nan=False) for _ in range(2))
    module = Looped(3)
    third, fourth = (json.dumps(crawl_module(module, (3,)), allow_nan=False) for _ in range(2))
    assert first == second == third == fourth


SAME_EVERYWHERE = """
import json, torch
from torch import nn
from torchscan import ModuleHandler, crawl_module
owner = ModuleHandler(lambda call: {}, frozenset({"macs", "dmas", "module_flops", "receptive_field"}))
model = nn.Sequential(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), nn.Sequential(nn.Linear(4, 4)))
report = crawl_module(model, args=(torch.ones(1, 3, 4),), custom_modules={nn.Linear: owner})
print(json.dumps(report, allow_nan=False))
"""


def test_another_process_with_other_hash_seeds_says_the_same():
    texts = {
        subprocess.run(
            [sys.executable, "-c", SAME_EVERYWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
