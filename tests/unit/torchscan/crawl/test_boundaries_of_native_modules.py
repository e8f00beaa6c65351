"""A native module whose parts were changed counts as what runs inside it, and says so; a missing tensor is named."""

from __future__ import annotations

import pytest
import torch
from support.small_nets import codes, crawl, total
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from torchscan import ModuleHandler, crawl_module

SOURCE = torch.ones(2, 5, 8)
CODE = "expanded_atomic_boundary"


class Attention(nn.MultiheadAttention):
    """A subclass: its forward may be anything later."""


class EncoderLayer(nn.TransformerEncoderLayer):
    """A subclass of a layer."""


def layer():
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)


def in_sequence():
    changed = layer()
    changed.linear1 = nn.Sequential(changed.linear1)
    return changed


def own_forward():
    changed = layer()
    changed.forward = changed.forward
    return changed


@pytest.mark.parametrize("build", [in_sequence, own_forward, lambda: EncoderLayer(8, 2, 16, batch_first=True)])
def test_a_changed_layer_adds_up_its_parts(build):
    report = crawl(build(), SOURCE)

    assert total(report, "macs") == ("complete", 6240)  # as the native layer: all products are in parts with formulas
    assert total(report, "module_flops") == ("partial", 13840 - 2 * 2 * 5 * 8 - 10 * 16)  # no residuals, no ReLU
    assert {each for each in codes(report) if each[0] == CODE} == {(CODE, "", "module_flops"), (CODE, "", "dmas")}


def test_a_parametrized_part_expands_its_layer():
    changed = layer()
    weight_norm(changed.linear1)

    report = crawl(changed, SOURCE)

    assert total(report, "macs") == ("complete", 6240)
    assert (CODE, "", "module_flops") in codes(report)


def test_a_stack_of_changed_layers_adds_them_up():
    report = crawl(nn.TransformerEncoder(EncoderLayer(8, 2, 16, batch_first=True), 2), SOURCE)

    assert total(report, "macs") == ("complete", 2 * 6240)
    assert total(report, "module_flops")[0] == "partial"


def parametrized(width, heads, batch_first):
    return weight_norm(nn.MultiheadAttention(width, heads, batch_first=batch_first), "in_proj_weight")


@pytest.mark.parametrize("build", [Attention, parametrized])
def test_attention_that_is_not_exactly_native_is_never_guessed(build):
    report = crawl(build(8, 2, batch_first=True), SOURCE, SOURCE, SOURCE)

    assert total(report, "macs")[0] != "complete"
    assert total(report, "operator_macs") == ("complete", 3360)
    assert (CODE, "", "macs") in codes(report)


def test_a_changed_part_below_an_owner_of_the_caller_is_the_caller_s():
    answer = {"macs": 1, "module_flops": 2, "dmas": 3}
    handler = ModuleHandler(lambda call: answer, frozenset(answer))

    report = crawl_module(nn.Sequential(in_sequence()), args=(SOURCE,), custom_modules={nn.Sequential: handler})

    assert total(report, "macs") == ("complete", 1)
    assert CODE not in {code for code, _, _ in codes(report)}


def test_a_tensor_that_the_formula_needs_and_the_call_lacks_is_named():
    linear = nn.Linear(4, 4)
    linear.register_forward_pre_hook(lambda module, args: (Wrapped(args[0]),))

    report = crawl(linear, torch.ones(2, 4))

    assert ("missing_metric_tensor", "", "macs") in codes(report)
    assert total(report, "macs") == ("unavailable", None)


class Wrapped:
    """Something that stands for a tensor without being one."""

    def __init__(self, values) -> None:
        self.values = values

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        unwrapped = [value.values if isinstance(value, Wrapped) else value for value in args]
        return func(*unwrapped, **(kwargs or {}))


def test_a_patched_type_inside_of_a_layer_expands_it(monkeypatch):
    forward = nn.LayerNorm.forward
    monkeypatch.setattr(nn.LayerNorm, "forward", lambda module, values: forward(module, values) * 2)

    report = crawl(layer(), SOURCE)

    assert total(report, "module_flops")[0] == "partial"
    assert (CODE, "", "module_flops") in codes(report)
