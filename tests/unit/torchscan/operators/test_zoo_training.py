"""The zoo's training steps: forward, backward and an optimizer step, complete for every model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.zoo import ZOO, tensors
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from torchscan import measure_flops

pytestmark = pytest.mark.filterwarnings("ignore")


def loss(output: Any) -> Tensor:
    parts = [part for part in tensors(output) if part.requires_grad]
    return torch.stack([(part.abs() if part.is_complex() else part).float().sum() for part in parts]).sum()


def training_step(module: nn.Module, args: Any, kwargs: Any) -> None:
    torch.manual_seed(1)
    module.zero_grad()
    loss(module(*args, **kwargs)).backward()


@pytest.mark.parametrize("name", ZOO)
def test_a_training_step_is_complete(name: str) -> None:
    module, args, kwargs = ZOO[name]()
    module.train()
    optimizer = torch.optim.AdamW(module.parameters())

    def step() -> None:
        training_step(module, args, kwargs)
        optimizer.step()

    report = measure_flops(step, formulas="extended")

    assert report["diagnostics"] == []
    assert report["total"]["status"] == "complete"


@pytest.mark.parametrize("name", ["plain_vgg", "plain_unet", "plain_nn_transformer", "resnet", "bert", "gpt2", "t5"])
def test_the_native_view_of_a_training_step_is_pytorch_s(name: str) -> None:
    module, args, kwargs = ZOO[name]()
    module.train()
    with FlopCounterMode(display=False) as reference:
        training_step(module, args, kwargs)

    report = measure_flops(lambda: training_step(module, args, kwargs))

    assert report["by_operator"] == {str(k): v for k, v in reference.get_flop_counts()["Global"].items()}


@pytest.mark.parametrize("name", ["regnet", "mobilenet_v1", "convnext"])
def test_the_native_view_differs_by_the_groups_of_weight_gradients_alone(name: str) -> None:
    module, args, kwargs = ZOO[name]()
    module.train()
    with FlopCounterMode(display=False) as reference:
        training_step(module, args, kwargs)
    theirs = {str(k): v for k, v in reference.get_flop_counts()["Global"].items()}

    ours = measure_flops(lambda: training_step(module, args, kwargs))["by_operator"]

    assert ours.pop("aten.convolution_backward") < theirs.pop("aten.convolution_backward")
    assert ours == theirs
