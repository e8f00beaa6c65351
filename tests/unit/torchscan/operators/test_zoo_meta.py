"""Models without memory count what they count with memory, wherever their own plain forward runs there."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.counting import flops
from support.zoo import ZOO
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import tree_map

from torchscan.operators.counter import OperatorCounter

pytestmark = pytest.mark.filterwarnings("ignore")

# On a CPU, a biased Linear whose input is not contiguous adds its bias by an operator of its own; on meta it is fused.
BIAS_APART = {"plain_rnn_relu", "cvt", "patchtst"}


def built(name: str, device: str) -> tuple[nn.Module, Any, Any]:
    module, args, kwargs = ZOO[name]()
    args, kwargs = tree_map(
        lambda value: value.to(device) if isinstance(value, torch.Tensor) else value, (args, kwargs)
    )
    return module.eval().to(device), args, kwargs


def plain_error(name: str, device: str) -> Exception | None:
    module, args, kwargs = built(name, device)
    try:
        with torch.no_grad():
            module(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 # whatever a model raises on meta, it raises it without us
        return error
    return None


def counts(name: str, device: str) -> OperatorCounter:
    module, args, kwargs = built(name, device)
    counter = OperatorCounter()
    with torch.no_grad(), counter:
        module(*args, **kwargs)
    return counter


@pytest.mark.parametrize("name", ZOO)
def test_meta_equals_eager(name: str) -> None:
    try:
        meta = counts(name, "meta")
    except Exception:
        if plain_error(name, "meta") is None:
            raise
        pytest.skip("its own plain forward does not run on meta")
    eager = counts(name, "cpu")

    assert meta.report()["total"]["status"] == "complete"
    assert meta.total.macs == eager.total.macs
    if name not in BIAS_APART:
        assert meta.total.flops == eager.total.flops


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": torch.zeros(6, 6)}])
def test_attention_on_meta_counts_its_two_products(options: dict[str, Any]) -> None:
    query = torch.empty(2, 4, 6, 8, device="meta")
    options = {key: value.to("meta") if isinstance(value, torch.Tensor) else value for key, value in options.items()}

    assert flops(lambda: F.scaled_dot_product_attention(query, query, query, **options)) == 2 * 2 * (2 * 4 * 6 * 6 * 8)


def test_explicit_attention_on_meta_counts_all_of_its_operators() -> None:
    query = torch.empty(2, 4, 6, 8, device="meta")
    explicit = 2 * 2 * (2 * 4 * 6 * 6 * 8) + 2 * 4 * 6 * 6 + 2 * 4 * 6 * (5 * 6 - 2)

    assert flops(lambda: ((query @ query.transpose(-2, -1)) * 0.5).softmax(-1) @ query) == explicit
