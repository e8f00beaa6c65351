"""What hooks add to a module, or change of its output, is never part of its formula, and never lost."""

from __future__ import annotations

import pytest
import torch
from support.small_nets import codes, crawl, measured, total
from torch import nn
from torch.nn.utils import spectral_norm


def hooked(hook, *, before=False):
    linear = nn.Linear(4, 4)
    (linear.register_forward_pre_hook if before else linear.register_forward_hook)(hook)
    return nn.Sequential(linear)


BATCH = torch.ones(2, 4)


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: model[0]])
def test_a_product_in_a_hook_leaves_macs_short(wrap):
    report = crawl(wrap(hooked(lambda module, args, output: output @ output.T)), BATCH)

    assert [total(report, metric)[0] for metric in ("module_flops", "macs", "dmas")] == ["partial"] * 3
    assert total(report, "macs")[1] == 2 * 4 * 4
    assert total(report, "operator_macs") == ("complete", 2 * 4 * 4 + 2 * 2 * 4)


def test_a_product_in_a_pre_hook_leaves_macs_short():
    report = crawl(hooked(lambda module, args: (args[0] @ torch.ones(4, 4),), before=True), BATCH)

    assert total(report, "macs") == ("partial", 32)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_old_spectral_norm_multiplies_in_a_pre_hook():
    report = crawl(spectral_norm(nn.Linear(4, 4)), torch.ones(1, 4))

    assert total(report, "macs") == ("partial", 16)
    assert total(report, "operator_macs") == ("complete", 16 + 16 + 4)  # the layer, W v, and u' of it


@pytest.mark.parametrize(
    "hook", [lambda *call: call[-1][:, :1], lambda *call: {"y": call[-1]}, lambda *call: (call[-1], None)]
)
def test_a_hook_that_replaces_the_output_leaves_the_formula_to_the_forward(hook):
    report = crawl(hooked(hook)[0], BATCH)

    assert total(report, "macs") == ("complete", 32)
    assert total(report, "module_flops") == ("complete", 64)


def test_a_pre_hook_of_the_root_that_replaces_the_input_is_what_the_formula_sees():
    report = crawl(hooked(lambda module, args: (args[0][:1],), before=True)[0], BATCH)

    assert total(report, "dmas") == ("complete", 4 + 20 + 4)


def test_a_copy_in_a_hook_leaves_dmas_short():
    report = crawl(hooked(lambda module, args, output: output.clone()), BATCH)

    assert [total(report, metric)[0] for metric in ("module_flops", "macs", "dmas")] == ["complete"] * 2 + ["partial"]


def test_a_hook_inside_of_a_native_stack_is_work_beyond_its_formula():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    layer.linear1.register_forward_hook(lambda module, args, output: output * 2)

    report = crawl(nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), torch.ones(2, 5, 8))

    assert total(report, "module_flops") == ("partial", 13840)
    assert total(report, "macs") == ("complete", 6240)
    assert ("expanded_atomic_boundary", "", "module_flops") in codes(report)


def test_a_hook_that_only_looks_changes_nothing():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    layer.linear1.register_forward_hook(lambda module, args, output: None)

    report = crawl(layer, torch.ones(2, 5, 8))

    assert total(report, "module_flops") == ("complete", 13840)
    assert report["diagnostics"] == []


def test_a_weight_computed_at_each_use_is_more_than_the_formula():
    class Squared(nn.Linear):
        def __getattr__(self, name):
            value = super().__getattr__(name)
            return value @ value if name == "weight" else value

    report = crawl(Squared(4, 4), BATCH)

    assert total(report, "macs") == ("partial", 32)
    assert total(report, "operator_macs") == ("complete", 32 + 64)
    assert measured(report, "", "module_flops")[0] == "partial"
