"""Losses, optimizer steps, dropout and checkpointing."""

from __future__ import annotations

import pytest
import torch
from support.counting import counted, flops, macs
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

X, T = torch.rand(3, 4), torch.rand(3, 4)
CLASSES = torch.tensor([0, 2, 1])


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (lambda: F.mse_loss(X, T, reduction="none"), 24),
        (lambda: F.mse_loss(X, T, reduction="sum"), 24 + 11),
        (lambda: F.mse_loss(X, T), 24 + 12),
        (lambda: F.l1_loss(X, T), 24 + 12),
        (lambda: F.nll_loss(X, CLASSES), 3 + 3),
        (lambda: F.cross_entropy(X, CLASSES), 3 * (5 * 4 - 1) + 3 + 3),
        (lambda: F.soft_margin_loss(X, T), 4 * 12 + 12),
    ],
)
def test_losses_count_their_elements_and_their_reduction(work: object, expected: int) -> None:
    assert flops(work) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "work",
    [
        lambda x: F.smooth_l1_loss(x, T), lambda x: F.huber_loss(x, T),
        lambda x: F.kl_div(x.log_softmax(-1), T, reduction="sum"),
        lambda x: F.binary_cross_entropy(x.sigmoid(), T), lambda x: F.binary_cross_entropy_with_logits(x, T),
        lambda x: F.multi_margin_loss(x, CLASSES), lambda x: F.multilabel_soft_margin_loss(x, T.round()),
        lambda x: F.cosine_embedding_loss(x, T, torch.ones(3)), lambda x: F.triplet_margin_loss(x, T, T + 1),
        lambda x: F.hinge_embedding_loss(x, torch.ones(3, 4)), lambda x: F.poisson_nll_loss(x, T),
        lambda x: F.gaussian_nll_loss(x, T, torch.ones(3, 4)), lambda x: F.cross_entropy(x, CLASSES, torch.ones(4)),
        lambda x: F.multilabel_margin_loss(x, torch.tensor([[1, 0, -1, -1]] * 3)),
        lambda x: F.ctc_loss(x[:, None].log_softmax(-1), torch.tensor([[1]]), [3], [1]),
    ],
)  # fmt: skip
def test_every_loss_is_complete_forward_and_backward(work: object) -> None:
    values = X.clone().requires_grad_()

    assert flops(lambda: work(values).backward(), grad=True) > 0  # type: ignore[operator]


def test_a_ctc_loss_walks_its_lattice() -> None:
    log_probs = torch.rand(5, 1, 4).log_softmax(-1)
    # 5 steps by 2 * 2 + 1 states, 13 operations each; the mean divides by the length, then by the batch
    expected = 13 * 5 * 5

    counter = counted(lambda: F.ctc_loss(log_probs, torch.tensor([[1, 2]]), [5], [2], reduction="none"))

    assert counter.report()["by_operator"]["aten._ctc_loss"] == expected


@pytest.mark.parametrize("options", [{"fused": True}, {"foreach": True}, {"foreach": False}])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (torch.optim.SGD, {"lr": 0.1}), (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        (torch.optim.Adam, {"weight_decay": 0.1}), (torch.optim.AdamW, {"amsgrad": True}),
        (torch.optim.Adagrad, {}),
    ],
)  # fmt: skip
def test_every_form_of_an_optimizer_step_is_complete(
    kind: type[torch.optim.Optimizer], settings: dict[str, object], options: dict[str, bool]
) -> None:
    net = nn.Linear(4, 5)
    optimizer = kind(net.parameters(), **settings, **options)  # type: ignore[call-arg]
    net(torch.rand(2, 4)).sum().backward()

    assert flops(optimizer.step, grad=True) >= 2 * 25


def test_a_plain_gradient_step_scales_and_subtracts() -> None:
    net = nn.Linear(4, 5)
    net(torch.rand(2, 4)).sum().backward()

    assert flops(torch.optim.SGD(net.parameters(), lr=0.1, fused=True).step, grad=True) == 2 * 25
    assert flops(torch.optim.SGD(net.parameters(), lr=0.1, foreach=True).step, grad=True) == 2 * 25


def test_dropout_costs_nothing_in_evaluation() -> None:
    layer = nn.Dropout(0.5)

    assert flops(lambda: layer.eval()(X)) == 0
    assert flops(lambda: layer.train()(X)) == 24  # what is visible: the mask is scaled, then multiplied


def test_training_a_linear_layer_costs_three_products() -> None:
    layer, values = nn.Linear(8, 8), torch.rand(2, 8, requires_grad=True)

    assert macs(lambda: layer(values).backward(torch.ones(2, 8)), grad=True) == 3 * 128


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_counts_the_forward_that_runs_again(reentrant: bool) -> None:
    block, values = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.rand(2, 8, requires_grad=True)

    def step() -> None:
        checkpoint(block, values, use_reentrant=reentrant).sum().backward()

    assert macs(step, grad=True) == 4 * 128
