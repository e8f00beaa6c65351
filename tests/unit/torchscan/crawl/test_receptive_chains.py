from __future__ import annotations

import pytest
import torch
from support.small_nets import crawl, row
from torch import nn

IMAGE = torch.ones(1, 3, 32, 32)
FIELD = ("receptive_field", "effective_stride", "effective_padding")


def field(report, path=""):
    metrics = row(report, path)["metrics"]
    return [metrics[name]["value"] for name in FIELD]


def states(report, path=""):
    return {
        (row(report, path)["metrics"][name]["status"], row(report, path)["metrics"][name]["method"]) for name in FIELD
    }


class Chain(nn.Module):
    """Runs its layers in a way of its own."""

    def __init__(self, run, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.run = run

    def forward(self, x):
        return self.run(self.layers, x)


def test_a_single_chain_composes():
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, padding=1))
    report = crawl(model, IMAGE)
    # 3, then 3 + 1 * 1 = 4 at stride 2, then 4 + 2 * 2 = 8; padding 1 + 1 * 2 = 3
    assert field(report) == [8, 2, 3]
    assert field(report, "2") == [2, 2, 0]  # a row says what the layer itself does


def test_chains_nest():
    block = nn.Sequential(nn.Conv2d(3, 3, 3), nn.Sequential(nn.Conv2d(3, 3, 3, stride=2)))
    report = crawl(nn.Sequential(block, nn.Identity(), nn.Conv2d(3, 3, 3)), IMAGE)
    assert field(report, "0") == [5, 2, 0]
    assert field(report) == [9, 2, 0]


@pytest.mark.parametrize(
    "run",
    [
        lambda layers, x: layers[1](layers[0](x)) + x,  # a branch around
        lambda layers, x: layers[0](x) + layers[1](x),  # two branches
        lambda layers, x: torch.cat([layers[0](x), layers[1](x)]),
        lambda layers, x: layers[1](layers[0](x)).add_(x),  # the sum is the same object as the last output
        lambda layers, x: (layers[1](layers[0](x)),),
        lambda layers, x: layers[1](layers[0](x).flip(-1)),
        lambda layers, x: (layers[1](layers[0](x)), layers[0](x))[1],  # the last call is not what is returned
    ],
)
def test_branches_leave_no_field(run):
    report = crawl(Chain(run, nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)), IMAGE)
    assert states(report) == {("unavailable", "torchscan_receptive_field_v1")}
    assert field(report, "layers.0") == [3, 1, 1]


def test_a_hand_written_chain_composes_as_a_sequential_does():
    report = crawl(Chain(lambda layers, x: layers[1](layers[0](x)), nn.Conv2d(3, 3, 3), nn.Conv2d(3, 3, 5)), IMAGE)
    assert field(report) == [7, 1, 0]


def test_a_chain_through_a_layer_without_spatial_axes_has_none():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(3600, 2))
    assert states(crawl(model, IMAGE)) == {("unavailable", "not_applicable")}


def test_a_layer_called_twice_composes_twice():
    conv = nn.Conv2d(3, 3, 3)
    assert field(crawl(nn.Sequential(conv, conv), IMAGE)) == [5, 1, 0]


def test_an_empty_container_has_no_field():
    assert states(crawl(nn.Sequential(), IMAGE)) == {("unavailable", "torchscan_receptive_field_v1")}
