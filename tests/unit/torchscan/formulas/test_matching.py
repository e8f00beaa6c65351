"""Which handler a module gets: the caller's first, and a parent's formula only while it describes the child."""

from __future__ import annotations

import pytest
import torch
from support.estimates import called, work
from torch import nn
from torch.nn.utils import parametrizations

from torchscan.formulas.handler import ModuleHandler, UnsupportedCall
from torchscan.formulas.table import BUILTIN, handler_for


class Plain(nn.Linear):
    """A subclass that changes nothing that is computed."""


class Doubled(nn.Linear):
    def forward(self, source):
        return 2 * super().forward(source)


class Standardized(nn.Conv2d):
    def _conv_forward(self, source, weight, bias):
        return super()._conv_forward(source, weight - weight.mean(), bias)


class Mixin:
    def forward(self, source):
        return source


class Mixed(Mixin, nn.Linear):
    pass


class OwnAttention(nn.MultiheadAttention):
    pass


def _handler():
    return ModuleHandler(lambda call: {})


@pytest.mark.parametrize("kind", [nn.Linear, Plain, type(nn.MultiheadAttention(2, 1).out_proj)])
def test_a_parents_forward_brings_its_formula(kind):
    match = handler_for(kind, {})
    assert match.type is nn.Linear
    assert match.handler is BUILTIN[nn.Linear].handler
    assert not match.is_custom
    assert match.cacheable


@pytest.mark.parametrize("kind", [Doubled, Standardized, Mixed, OwnAttention, nn.Sequential, nn.Module])
def test_no_formula_for_what_it_does_not_describe(kind):
    assert handler_for(kind, {}) is None


def test_a_parametrized_class_keeps_the_formula():
    module = parametrizations.weight_norm(nn.Conv2d(3, 8, 3))
    assert type(module) is not nn.Conv2d
    assert work(module, torch.ones(1, 3, 6, 6))[1] == 3_456


def test_weight_norm_itself_has_no_macs():
    module = parametrizations.weight_norm(nn.Linear(4, 3)).parametrizations.weight
    # 12 values in 3 slices: 12 squares, 9 adds, 3 roots, 3 divides, 12 products.
    assert work(module[0], module.original0, module.original1)[:2] == (39, 0)


def test_lazy_modules_have_their_plain_formula_after_the_first_call():
    module = nn.LazyLinear(32)
    module(torch.ones(1, 16))
    assert work(module, torch.ones(1, 16))[1] == 512


def test_the_callers_handler_wins_even_on_a_base_class():
    base, closer = _handler(), _handler()
    assert handler_for(nn.Linear, {nn.Module: base}).handler is base
    match = handler_for(Doubled, {nn.Module: base, nn.Linear: closer})
    assert (match.handler, match.is_custom, match.type, match.cacheable) == (closer, True, nn.Linear, False)


def test_virtual_subclasses_do_not_match():
    class Meta(type):
        def __instancecheck__(cls, instance):
            return True

        def __subclasscheck__(cls, kind):
            return True

    class Anything(nn.Module, metaclass=Meta):
        pass

    assert handler_for(nn.Sequential, {Anything: _handler()}) is None


def test_a_forward_on_the_instance_takes_the_formula_away():
    module = nn.Linear(2, 2)
    module.forward = lambda source: source
    with pytest.raises(UnsupportedCall, match="instance"):
        BUILTIN[nn.Linear].handler.estimate(called(module, torch.ones(2)))


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        BUILTIN[nn.Sequential] = BUILTIN[nn.Linear]


@pytest.mark.parametrize("kind", [nn.Linear, nn.MultiheadAttention])
def test_a_type_whose_forward_was_patched_has_no_formula(kind, monkeypatch) -> None:
    assert handler_for(kind, {}) is not None

    monkeypatch.setattr(kind, "forward", lambda *args, **kwargs: None)

    assert handler_for(kind, {}) is None
