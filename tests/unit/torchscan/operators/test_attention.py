"""Attention in each form that PyTorch picks: the fused kernels, the fast paths, and the explicit products."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.counting import counted, flops, macs
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

SMALL = st.integers(1, 4)
FEW = settings(max_examples=20, deadline=None)


@pytest.fixture
def slow_path() -> Iterator[None]:
    torch.backends.mha.set_fastpath_enabled(False)
    yield
    torch.backends.mha.set_fastpath_enabled(True)


def frozen(module: nn.Module) -> nn.Module:
    return module.eval().requires_grad_(False)


@FEW
@given(SMALL, SMALL, SMALL, SMALL, SMALL, st.booleans())
def test_every_form_takes_one_multiplication_per_score_and_per_value(
    b: int, h: int, t: int, s: int, d: int, causal: bool
) -> None:
    query, key = torch.randn(b, h, t, d), torch.randn(b, h, s, d)
    expected = 2 * sum(1 for _ in product(range(b), range(h), range(t), range(s), range(d)))

    def attend() -> torch.Tensor:
        return F.scaled_dot_product_attention(query, key, key, is_causal=causal)

    assert macs(attend) == expected
    with sdpa_kernel(SDPBackend.MATH):
        assert macs(attend) == expected


@pytest.mark.parametrize(("shape", "expected"), [((1, 12, 64, 64), 12_582_912), ((2, 5, 9, 4), 12_960)])
def test_a_fused_kernel_counts_its_two_products_once(shape: tuple[int, ...], expected: int) -> None:
    query = torch.randn(shape)

    assert flops(lambda: F.scaled_dot_product_attention(query, query, query)) == expected


def test_grouped_heads_count_the_query_s_heads() -> None:
    query, key = torch.randn(2, 8, 5, 4), torch.randn(2, 2, 6, 4)

    assert macs(lambda: F.scaled_dot_product_attention(query, key, key, enable_gqa=True)) == 2 * (2 * 8 * 5 * 6 * 4)


def test_masks_and_dropout_leave_the_products_alone() -> None:
    query, mask = torch.randn(1, 2, 3, 4), torch.zeros(3, 3)
    expected = 2 * (2 * 3 * 3 * 4)

    assert macs(lambda: F.scaled_dot_product_attention(query, query, query, attn_mask=mask)) == expected
    assert macs(lambda: F.scaled_dot_product_attention(query, query, query, dropout_p=0.5)) == expected


def test_the_backward_pass_takes_five_products() -> None:
    query = torch.randn(1, 2, 3, 4, requires_grad=True)
    output = F.scaled_dot_product_attention(query, query, query)

    assert macs(lambda: output.backward(torch.ones_like(output)), grad=True) == 5 * (2 * 3 * 3 * 4)


def test_attention_grows_with_the_square_of_the_length() -> None:
    def cost(length: int) -> int | float:
        with torch.device("meta"):
            query = torch.empty(1, 2, length, 8)
        return macs(lambda: F.scaled_dot_product_attention(query, query, query))

    assert cost(64) == 4 * cost(32) == 16 * cost(16)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("is_frozen", [True, False])
def test_multihead_attention_counts_the_same_on_every_path(need_weights: bool, is_frozen: bool) -> None:
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    module = frozen(module) if is_frozen else module
    values = torch.randn(2, 5, 8)

    assert macs(lambda: module(values, values, values, need_weights=need_weights)) == 3_360


@pytest.mark.parametrize("heads", [1, 4, 10])
def test_multihead_attention_is_blind_to_its_heads(heads: int) -> None:
    module, values = frozen(nn.MultiheadAttention(100, heads, batch_first=True)), torch.randn(1, 1000, 100)

    assert macs(lambda: module(values, values, values)) == 240_000_000


def test_a_fused_encoder_layer_counts_its_products() -> None:
    layer = frozen(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True))

    counter = counted(lambda: layer(torch.randn(2, 5, 8)))

    assert list(counter.report()["by_operator"]) == ["aten._transformer_encoder_layer_fwd"]
    assert counter.total.macs == 5_920


@pytest.mark.usefixtures("slow_path")
def test_an_encoder_layer_counts_the_same_products_step_by_step() -> None:
    layer = frozen(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True))

    assert macs(lambda: layer(torch.randn(2, 5, 8))) == 5_920


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [True, False])
def test_a_fused_encoder_layer_equals_its_steps_but_for_the_input_projection_s_bias(
    activation: str, norm_first: bool
) -> None:
    layer = frozen(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation=activation, norm_first=norm_first))
    values = torch.randn(2, 5, 8)
    fused = flops(lambda: layer(values))
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        stepwise = flops(lambda: layer(values))
    finally:
        torch.backends.mha.set_fastpath_enabled(True)

    assert stepwise - fused == 3 * values.numel()  # a separate add for each of query, key and value


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_padded_encoder_is_counted_at_its_dense_size() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = frozen(nn.TransformerEncoder(layer, 2))
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[0, 3:] = True

    assert macs(lambda: encoder(torch.randn(2, 5, 8), src_key_padding_mask=padding)) == 2 * 5_920


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_padded_encoder_off_the_fused_path_is_complete_at_its_dense_size() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    handle = encoder.layers[1].linear1.register_forward_hook(lambda *_: None)  # a hook anywhere unfuses the layers
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[0, 3:] = True

    with torch.no_grad():
        counter = counted(lambda: encoder(torch.randn(2, 5, 8), src_key_padding_mask=padding))
    handle.remove()

    assert counter.report()["total"]["status"] == "complete"
    assert counter.macs_metric(counter.total, "model")["value"] == 2 * 5_920


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_batch_from_the_caller_stays_incomplete() -> None:
    layer = frozen(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True))
    nested = torch.nested.nested_tensor([torch.randn(2, 8), torch.randn(3, 8)])

    counter = counted(lambda: layer(nested))

    assert counter.report()["total"]["status"] == "partial"
    assert not counter.total.is_macs_complete
