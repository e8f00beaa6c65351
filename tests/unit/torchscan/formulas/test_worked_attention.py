"""Worked numbers of native attention and Transformer stacks, from counting.md and the public cases."""

from __future__ import annotations

import pytest
import torch
from support.estimates import work
from torch import nn


def _stack(**options):
    return {"dim_feedforward": 8, "batch_first": True, "dropout": 0.1, **options}


def _sequence(length, width=4, batch=1):
    return torch.ones(batch, length, width)


def test_self_attention():
    source = _sequence(3)
    module = nn.MultiheadAttention(4, 2, batch_first=True)
    # 588: projections 288, scale 12, scores 54, softmax 78, values 60, output 96; 18 more for the mean of 2 heads.
    assert work(module, source, source, source, need_weights=False) == (588, 264, 452)
    assert work(module, source, source, source) == (606, 264, 479)
    assert work(module, source, source, source, average_attn_weights=False) == (588, 264, 452)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(("key_width", "value_width", "macs", "dmas"), [(4, 4, 208, 352), (6, 5, 244, 373)])
def test_cross_attention(batch_first, key_width, value_width, macs, dmas):
    module = nn.MultiheadAttention(4, 2, kdim=key_width, vdim=value_width, batch_first=batch_first)
    inputs = [_sequence(2), _sequence(3, key_width), _sequence(3, value_width)]
    if not batch_first:
        inputs = [tensor.transpose(0, 1) for tensor in inputs]
    assert work(module, *inputs, need_weights=False)[1:] == (macs, dmas)


def test_masks_add_their_stored_elements_and_two_passes_over_the_scores():
    source, causal = _sequence(3), torch.ones(3, 3, dtype=torch.bool).triu(1)
    module = nn.MultiheadAttention(4, 2, batch_first=True)
    padding = torch.zeros(1, 3, dtype=torch.bool)
    both = work(module, source, source, source, padding, False, causal)
    assert both == (588 + 2 * 18, 264, 452 + (3 + 36) + (9 + 36))


def test_biasless_attention_leaves_out_the_adds():
    source, module = _sequence(3), nn.MultiheadAttention(4, 2, bias=False, batch_first=True)
    assert work(module, source, source, source, need_weights=False) == (588 - 48, 264, 452 - 16)


def test_encoder_layer():
    module = nn.TransformerEncoderLayer(4, 2, **_stack())
    assert work(module, _sequence(3)) == (1224, 504, 912)


def test_decoder_layer():
    module = nn.TransformerDecoderLayer(4, 2, **_stack())
    assert work(module, _sequence(2), _sequence(3)) == (1300, 544, 1069)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor:UserWarning")
def test_transformer(batch_first, norm_first):
    module = nn.Transformer(4, 2, 1, 1, **_stack(batch_first=batch_first, norm_first=norm_first))
    inputs = [_sequence(3), _sequence(2)]
    if not batch_first:
        inputs = [tensor.transpose(0, 1) for tensor in inputs]
    assert work(module, *inputs) == (2694, 1088, 2144)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_padded_encoder_counts_its_dense_size_on_the_nested_path():
    # Two layers at the plain size, each with one mask of 2 x 3 elements over scores of 2 x 2 x 3 x 3.
    layer = nn.TransformerEncoderLayer(4, 2, **_stack())
    padding = torch.tensor([[False, False, True], [False, False, False]])
    plain = work(nn.TransformerEncoder(layer, 2), _sequence(3, batch=2))
    padded = work(nn.TransformerEncoder(layer, 2), _sequence(3, batch=2), src_key_padding_mask=padding)
    assert padded == (plain[0] + 2 * 36, plain[1], plain[2] + 2 * (6 + 72))


def test_gelu_takes_five_operations_where_relu_takes_one():
    relu, gelu = (nn.TransformerEncoderLayer(4, 2, **_stack(activation=name)) for name in ("relu", "gelu"))
    assert work(gelu, _sequence(3))[0] == work(relu, _sequence(3))[0] + 4 * 24


@pytest.mark.parametrize(
    ("module", "shape", "macs"),
    [
        (nn.MultiheadAttention(8, 2, batch_first=True), (2, 5, 8), 3_360),
        (nn.MultiheadAttention(100, 1, batch_first=True), (1, 1000, 100), 240_000_000),
        (nn.MultiheadAttention(100, 10, batch_first=True), (1, 1000, 100), 240_000_000),
    ],
)
def test_public_cases_of_attention(module, shape, macs):
    source = torch.ones(shape)
    assert work(module, source, source, source)[1] == macs


def test_public_case_of_a_frozen_encoder_layer():
    # 5,920 in products and 320 for the norms' squares and affine products.
    module = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).requires_grad_(False)
    assert work(module, torch.ones(2, 5, 8))[1] == 6_240
