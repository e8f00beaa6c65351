"""Models on meta and of fake tensors: analysed in full, equal to eager, wherever their own plain forward runs there."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import pytest
import torch
from support.zoo import ZOO
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map

from torchscan import crawl_module

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("fresh")]

PLACES = ("meta", "fake")

BIAS = "a CPU adds the bias of a Linear apart where its input is not contiguous; without memory it is fused"
MASK = "transformers cannot read whether a mask hides anything, so it builds the mask"
VALUES = "the lengths of the bags are values, which are not known"
NO_VALUES = ("module_flops", "dmas")

INHERENT: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("meta", "patchtst"): (BIAS, ("operator_flops",)),
    ("meta", "cvt"): (BIAS, ("operator_flops",)),
    ("meta", "plain_rnn_relu"): (BIAS, ("operator_flops",)),
    ("meta", "plain_dlrm"): (VALUES, NO_VALUES),
    ("fake", "patchtst"): (BIAS, ("operator_flops",)),
    ("fake", "segformer"): (BIAS, ("operator_flops",)),
    ("fake", "plain_dlrm"): (VALUES, NO_VALUES),
    **{
        ("fake", name): (MASK, ("operator_flops",))
        for name in (
            "perceiver", "gpt2", "gpt_neox", "gptj", "llama_gqa", "qwen2", "qwen3", "phi3", "bart", "marian", "pegasus",
            "detr",
        )
    },
}  # fmt: skip
"""The totals that differ from eager, and why. Every other total is equal, and those that are listed do differ."""

READS_VALUES = {
    "vits", "time_series_transformer", "informer", "vilt", "llava", "longformer", "nystromformer", "led", "superpoint",
    "mixtral_moe", "qwen3_next", "plain_gru_packed", "plain_nn_transformer", "plain_encoder_padding_mask",
    "plain_vqvae_bfloat16",
}  # fmt: skip
"""Models whose own plain forward runs neither on meta nor on fake tensors: 15; 77 of 92 run on the latter."""
NOT_ON_META = READS_VALUES | {
    "layoutlm", "perceiver", "bert", "roberta", "distilbert", "electra", "albert", "big_bird", "gpt2",
    "gpt_neox", "gptj", "opt", "falcon", "llama_gqa", "mistral_sliding", "qwen2", "qwen3", "gemma2", "phi3",
    "bart", "marian", "pegasus", "detr", "plain_einsum_attention", "plain_diffusion3d",
    "plain_quantized_dynamic", "plain_graphormer",
}  # fmt: skip
"""42 models: 50 of 92 run on meta."""
EXCLUDED = {"meta": NOT_ON_META, "fake": READS_VALUES}


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of a fresh process: importing PyTorch's compiler switches the checks of distributions off for good.

    Fake tensors log the whole stack of an operator that has no fake form; that is silenced.
    """
    monkeypatch.setattr("torch.distributions.Distribution._validate_args", True)
    monkeypatch.setattr("torch._subclasses.fake_tensor.log.disabled", True)


def without_memory(name: str, place: str) -> tuple[nn.Module, Any, Any, AbstractContextManager[Any]]:
    """Build a model, and let its tensors become ones without memory; what is tied stays tied."""
    module, args, kwargs = ZOO[name]()
    mode = FakeTensorMode(allow_non_fake_inputs=True) if place == "fake" else None
    made: dict[int, Any] = {}

    def emptied(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in made:
            plain = value.detach()
            empty = plain.to("meta") if mode is None else mode.from_tensor(plain)
            made[id(value)] = nn.Parameter(empty, value.requires_grad) if isinstance(value, nn.Parameter) else empty
        return made[id(value)]

    for part in module.modules():
        for tensors in (part._parameters, part._buffers):
            tensors.update({key: emptied(value) for key, value in tensors.items()})
    args, kwargs = tree_map(emptied, (args, kwargs))
    return module.eval(), args, kwargs, mode or nullcontext()


@cache
def eager(name: str) -> dict[str, Any]:
    module, args, kwargs = ZOO[name]()
    return crawl_module(module.eval(), args=args, kwargs=kwargs)["totals"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ZOO)
def test_without_memory_everything_is_as_with_it(name: str, place: str) -> None:
    module, args, kwargs, mode = without_memory(name, place)
    if name in EXCLUDED[place]:
        with pytest.raises(Exception) as caught, mode:  # noqa: PT011 # whatever the plain forward raises
            crawl_module(module, args=args, kwargs=kwargs)
        assert any("in the operator " in note for note in caught.value.__notes__)
        return

    with mode:
        totals = crawl_module(module, args=args, kwargs=kwargs)["totals"]

    _, differing = INHERENT.get((place, name), ("", ()))
    assert totals["operator_flops"]["status"] == "complete"
    assert {metric for metric, result in totals.items() if result != eager(name)[metric]} == set(differing)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_left_out_does_not_run_by_itself(place: str) -> None:
    for name in EXCLUDED[place]:
        module, args, kwargs, mode = without_memory(name, place)
        with pytest.raises(Exception), mode, torch.no_grad():  # noqa: B017, PT011 # any error of the model's own
            module(*args, **kwargs)
