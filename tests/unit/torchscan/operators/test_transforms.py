"""Function transforms, scripted and traced code: what they dispatch is counted like any other work."""

from __future__ import annotations

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from support.counting import counted, macs
from torch import nn

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")

LAYER, X = nn.Linear(4, 5), torch.rand(3, 4)
PRODUCT = 3 * 4 * 5


@pytest.mark.parametrize("grad", [True, False])
def test_vmap_and_gradients_count_the_products_that_run(grad: bool) -> None:
    assert macs(lambda: torch.vmap(LAYER)(X), grad=grad) == PRODUCT
    assert macs(lambda: torch.func.grad(lambda x: LAYER(x).sum())(X), grad=grad) == 2 * PRODUCT


def test_forward_mode_derivatives_are_complete() -> None:
    def work() -> None:
        with forward_ad.dual_level():
            LAYER(forward_ad.make_dual(X, X)).tanh()

    assert counted(work).report()["total"]["status"] == "complete"


@pytest.mark.parametrize("make", [torch.jit.script, lambda layer: torch.jit.trace(layer, X), torch.fx.symbolic_trace])
def test_scripted_and_traced_layers_count_their_product(make: object) -> None:
    layer = make(LAYER)  # type: ignore[operator]

    for _ in range(3):
        assert macs(lambda: layer(X)) == PRODUCT
    assert macs(torch.inference_mode()(lambda: layer(X))) == PRODUCT


def test_a_sparse_gradient_is_no_crash() -> None:
    table = nn.Embedding(5, 3, sparse=True)

    counter = counted(lambda: table(torch.tensor([1, 2])).sum().backward(), grad=True)

    assert counter.total.flops >= 5
