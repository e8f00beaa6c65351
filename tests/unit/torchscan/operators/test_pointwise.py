"""Elementwise work: one operation per element, and each activation equal to its formula written out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.counting import counted, flops
from torch import Tensor
from torch.nn import functional as F

N = 12
X = torch.rand(3, 4) + 0.5
Y = torch.rand(3, 4) + 0.5
MASK = torch.tensor([True, False, True, False]).expand(3, 4)


@pytest.mark.parametrize(
    "work",
    [
        lambda: X + Y, lambda: X - 1, lambda: 2 - X, lambda: X * Y, lambda: X / Y, lambda: X**3, lambda: -X,
        X.exp, X.sqrt, X.rsqrt, X.sin, X.tanh, X.erf,
        X.abs, X.floor, X.reciprocal, X.log1p, X.lgamma,
        lambda: X > Y, lambda: X == 1, lambda: torch.maximum(X, Y), X.relu, lambda: X.clamp(min=0.0),
        lambda: torch.where(MASK, X, Y), lambda: X.masked_fill(MASK, 0.0),
        lambda: X.clone().add_(Y), lambda: X.clone().mul_(2), lambda: torch.add(X, Y, out=torch.empty(3, 4)),
        lambda: torch.atan2(X, Y), lambda: X.remainder(2.0), lambda: X // 2.0, lambda: torch.isnan(X),
    ],
)  # fmt: skip
def test_one_operation_per_output_element(work: Callable[[], Tensor]) -> None:
    assert flops(work) == N


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (lambda: torch.add(X, Y, alpha=2), 2 * N),
        (lambda: torch.sub(X, Y, alpha=2), 2 * N),
        (lambda: X.clamp(0.0, 1.0), 2 * N),
        (lambda: torch.addcmul(X, X, Y), 2 * N),
        (lambda: torch.addcdiv(X, X, Y, value=0.5), 3 * N),
        (lambda: torch.lerp(X, Y, 0.3), 3 * N),
        (X.frac, 2 * N),
        (lambda: torch.hypot(X, Y), 4 * N),
        (X.nan_to_num, 3 * N),
        (lambda: X + torch.ones(4), N),
        (lambda: X[:, None] + Y, 3 * N),
    ],
)
def test_operators_of_several_steps(work: Callable[[], Tensor], expected: int) -> None:
    assert flops(work) == expected


def test_integers_booleans_views_and_copies_count_nothing() -> None:
    def work() -> None:
        steps = torch.arange(5) * 2 + 1
        (steps > 3) & (steps < 7)
        torch.cat([X, Y]).t().contiguous()[0].view(-1).double()
        F.pad(X[None, None], (1, 1, 1, 1), mode="circular")

    report = counted(work).report()

    assert report["total"]["value"] == 0
    assert all(found["reason"] for found in report["ignored_operators"])
    reasons = {found["operator"]: found["reason"] for found in report["ignored_operators"]}
    assert reasons["aten.add"] == "integer or boolean arithmetic"
    assert reasons["aten.t"] == "view"


def test_true_division_of_integers_is_real_arithmetic() -> None:
    assert flops(lambda: torch.ones(4, dtype=torch.int64) / torch.full((4,), 2)) == 4


WRITTEN_OUT: list[tuple[Callable[[Tensor], Any], Callable[[Tensor], Any]]] = [
    (torch.sigmoid, lambda x: torch.div(torch.ones(()), 1 + torch.exp(-x))),
    (F.silu, lambda x: x * torch.div(torch.ones(()), 1 + torch.exp(-x))),
    (F.gelu, lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))),
    (
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: 0.5 * x * (1 + torch.tanh(0.797 * (x + 0.044715 * x * x * x))),
    ),
    (F.mish, lambda x: x * torch.tanh(torch.log(1 + torch.exp(x)))),
    (lambda x: F.softplus(x, beta=2), lambda x: torch.where(MASK, x, torch.log(1 + torch.exp(2 * x)) / 2)),
    (F.elu, lambda x: torch.where(MASK, x, (torch.exp(x) - 1) * 0.9)),
    (F.hardtanh, lambda x: torch.minimum(torch.maximum(x, torch.zeros(())), torch.ones(()))),
    (F.hardsigmoid, lambda x: torch.clamp(x + 3, 0, 6) / 6),
    (F.hardswish, lambda x: x * torch.clamp(x + 3, 0, 6) / 6),
    (F.leaky_relu, lambda x: torch.where(MASK, x, x * 0.1)),
    (F.glu, lambda x: x[:, :2] * torch.div(torch.ones(()), 1 + torch.exp(-x[:, 2:]))),
]


@pytest.mark.parametrize(("fused", "written"), WRITTEN_OUT)
def test_an_activation_costs_what_its_formula_costs_step_by_step(
    fused: Callable[[Tensor], Tensor], written: Callable[[Tensor], Tensor]
) -> None:
    assert flops(lambda: fused(X)) == flops(lambda: written(X))


def test_in_place_and_list_forms_cost_the_same() -> None:
    values, others = [torch.rand(3), torch.rand(4)], [torch.rand(3), torch.rand(4)]

    assert flops(lambda: torch._foreach_add(values, others)) == 7
    assert flops(lambda: torch._foreach_mul_(values, 2.0)) == 7
    assert flops(lambda: torch._foreach_addcdiv_(values, others, others, 0.5)) == 3 * 7
    assert flops(lambda: torch._foreach_norm(values)) == 2 * 7
    assert flops(lambda: F.relu_(torch.rand(3))) == 3


def test_costs_add_up_over_the_batch() -> None:
    def cost(batch: int) -> int | float:
        values = torch.rand(batch, 3, 4)
        return flops(lambda: F.gelu(values * 2).softmax(-1).sum(-1))

    assert cost(6) == 2 * cost(3) == 6 * cost(1)


def test_polar_coordinates_take_a_cosine_a_sine_and_two_products():
    assert flops(lambda: torch.polar(torch.rand(3), torch.rand(3))) == 4 * 3
