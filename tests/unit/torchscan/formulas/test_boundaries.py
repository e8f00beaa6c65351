"""Calls outside of a formula's boundary are refused with a reason, never guessed."""

from __future__ import annotations

import pytest
import torch
from support.estimates import called, estimate, work
from torch import nn

from torchscan.formulas.handler import ModuleCall, UnsupportedCall
from torchscan.formulas.table import handler_for

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor:UserWarning")


def _refused(module, *args, match=None, **kwargs):
    call = called(module, *args, **kwargs)
    with pytest.raises(UnsupportedCall, match=match):
        handler_for(type(module), {}).handler.estimate(call)


def test_complex_numbers():
    _refused(nn.Linear(4, 4, dtype=torch.complex64), torch.ones(4, 4, dtype=torch.complex64), match="complex64")
    _refused(nn.Conv1d(1, 1, 1, dtype=torch.complex64), torch.ones(1, 1, 2, dtype=torch.complex64))
    _refused(nn.Tanh(), torch.ones(2, dtype=torch.complex64))


@pytest.mark.filterwarnings("ignore:Sparse CSR:UserWarning")
def test_sparse_inputs_and_weights():
    _refused(nn.Linear(4, 6), torch.eye(4).to_sparse(), match="sparse_coo")
    module = nn.Linear(4, 6)
    module.weight = nn.Parameter(module.weight.detach().to_sparse_csr())
    _refused(module, torch.ones(3, 4), match="the weight is a tensor of layout")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_nested_tensors():
    nested = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)])
    _refused(nn.Linear(4, 6), nested, match="nested")
    module = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    _refused(module, nested, nested, nested, need_weights=False, match="nested")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_quantized_modules_have_no_formula_and_quantized_tensors_none():
    module = nn.Sequential(nn.Linear(4, 5))
    quantized = torch.ao.quantization.quantize_dynamic(module)[0]
    assert handler_for(type(quantized), {}) is None
    source = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)
    call = ModuleCall(nn.ReLU(), (source,), {}, torch.relu(source))
    with pytest.raises(UnsupportedCall, match="quint8"):
        handler_for(nn.ReLU, {}).handler.estimate(call)


@pytest.mark.parametrize(
    ("module", "missing"), [(nn.Linear(2, 2), ("module_flops", "macs", "dmas")), (nn.Conv1d(1, 1, 1), ())]
)
def test_what_never_has_a_receptive_field_misses_none(module, missing):
    call = ModuleCall(module, (None,), {}, None)
    with pytest.raises(UnsupportedCall) as refused:
        handler_for(type(module), {}).handler.estimate(call)
    assert refused.value.metrics == missing  # none named means all


def test_what_is_no_tensor_is_named_by_its_type():
    call = ModuleCall(nn.Linear(2, 2), ([1.0, 2.0],), {}, torch.ones(2))
    with pytest.raises(UnsupportedCall, match="input is a list"):
        handler_for(nn.Linear, {}).handler.estimate(call)


def test_integer_arithmetic_counts_nothing_and_is_still_moved():
    source = torch.ones(1, 1, 4, 4, dtype=torch.int64)
    assert work(nn.ReLU(), source) == (0, 0, 32)
    assert work(nn.AvgPool2d(2), source) == (0, 0, 20)


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors:UserWarning")
def test_an_empty_dot_product_leaves_the_bias():
    assert work(nn.Linear(0, 2), torch.ones(3, 0)) == (6, 0, 0 + 2 + 6)
    assert work(nn.Linear(0, 2, bias=False), torch.ones(3, 0)) == (0, 0, 6)
    assert work(nn.Linear(4, 2), torch.ones(0, 4)) == (0, 0, 10)


def test_identity_and_evaluation_dropout_pass_anything():
    for value in ("text", None, torch.eye(2).to_sparse()):
        assert work(nn.Identity(), value) == (0, 0, 0)


@pytest.mark.parametrize(("p", "flops"), [(0.0, 0), (0.5, 16), (1.0, 8)])
def test_dropout_in_training(p, flops):
    assert estimate(nn.Dropout(p), torch.ones(8))["module_flops"] == flops


def test_alpha_dropout_in_training():
    # 24 values; a mask of 24, or of 2 x 3 channels.
    source = torch.rand(2, 3, 4)
    assert estimate(nn.AlphaDropout(0.5), source)["module_flops"] == 48 + 96
    assert estimate(nn.FeatureAlphaDropout(0.5), source)["module_flops"] == 48 + 24
    assert estimate(nn.AlphaDropout(1.0), source)["module_flops"] == 24


def test_shapes_under_vmap_are_not_believed():
    module, seen = nn.Linear(3, 2), []
    handler = handler_for(nn.Linear, {}).handler

    def observed(row):
        output = module(row)
        with pytest.raises(UnsupportedCall, match="transform"):
            handler.estimate(ModuleCall(module, (row,), {}, output))
        seen.append(row.shape)
        return output

    torch.vmap(observed)(torch.ones(5, 3))
    assert seen == [(3,)]


def test_batch_norm_by_its_statistics():
    # N = 24 values, C = 3 channels, two affine tensors.
    source = torch.randn(2, 3, 4)
    assert estimate(nn.BatchNorm1d(3).eval(), source)["module_flops"] == 48 + 6 + 48
    assert estimate(nn.BatchNorm1d(3, track_running_stats=False).eval(), source)["module_flops"] == 48 + 6 + 96 + 48
    assert estimate(nn.BatchNorm1d(3), source)["module_flops"] == 48 + 6 + 96 + 48 + 24
    assert estimate(nn.BatchNorm1d(3, affine=False).eval(), source)["macs"] == 0


def test_inputs_by_keyword_and_scale_or_size_count_the_same():
    assert work(nn.Linear(3, 2), input=torch.ones(3)) == (12, 6, 13)
    source = torch.ones(8, 3, 32, 32)
    by_factor, by_size = nn.Upsample(scale_factor=2, mode="bilinear"), nn.Upsample(64, mode="bilinear")
    assert work(by_factor, source) == work(by_size, source) == (9 * 98_304, 0, 5 * 98_304)


def test_bags():
    table, indices = nn.EmbeddingBag(10, 4, mode="sum"), torch.tensor([1, 2, 3, 4, 5])
    offsets = torch.tensor([0, 3, 3])  # bags of 3, 0 and 2
    assert work(table, indices, offsets)[:2] == ((2 + 1) * 4, 0)
    assert work(nn.EmbeddingBag(10, 4), indices, offsets)[0] == (2 + 1) * 4 + 2 * 4
    assert work(table, indices, offsets, torch.ones(5))[:2] == (12 + 20, 20)
    assert work(table, indices.view(1, 5))[0] == 16
    padded = nn.EmbeddingBag(10, 4, mode="sum", padding_idx=1)
    assert work(padded, indices, offsets)[0] == (1 + 1) * 4


def test_work_that_values_decide_is_refused_without_values():
    with torch.device("meta"):
        _refused(nn.EmbeddingBag(10, 4), torch.zeros(5).long(), torch.zeros(3).long(), match="offsets")
    _refused(nn.Embedding(10, 4, max_norm=1.0), torch.tensor([1]), match="max_norm")


def _attention(**options):
    return nn.MultiheadAttention(4, 2, batch_first=True, **options)


@pytest.mark.parametrize(
    ("module", "shape", "match"),
    [
        (_attention(add_bias_kv=True).eval(), (1, 3, 4), "add_bias_kv"),
        (_attention(add_zero_attn=True).eval(), (1, 3, 4), "add_zero_attn"),
        (_attention().eval(), (3, 4), "2 axes"),
        (_attention().eval(), (0, 3, 4), "empty"),
        (_attention(), (1, 3, 4), "evaluation"),
    ],
)
def test_attention_outside_of_its_configurations(module, shape, match):
    source = torch.ones(shape)
    _refused(module, source, source, source, match=match)


def _encoder_layer(**options):
    return nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, **options).eval()


def test_encoder_layers_with_foreign_parts():
    source = torch.ones(1, 3, 4)
    _refused(_encoder_layer(activation=torch.tanh), source, match="the activation is tanh")
    layer = _encoder_layer()
    layer.linear1 = nn.Sequential(layer.linear1)
    with pytest.raises(UnsupportedCall, match="Sequential"):
        handler_for(nn.TransformerEncoderLayer, {}).handler.estimate(ModuleCall(layer, (source,), {}, source))
    layer = _encoder_layer()
    layer.self_attn = nn.Identity()
    with pytest.raises(UnsupportedCall, match="Identity"):
        handler_for(nn.TransformerEncoderLayer, {}).handler.estimate(ModuleCall(layer, (source,), {}, source))
    stack = nn.TransformerEncoder(_encoder_layer(), 1, nn.BatchNorm1d(3).eval()).eval()
    _refused(stack, source, match="BatchNorm1d")


def test_the_fast_path_and_the_explicit_path_count_the_same():
    layer, source = _encoder_layer(), torch.ones(1, 3, 4)
    fast = estimate(layer, source)
    layer.linear1.register_forward_hook(lambda *_: None)  # hooks keep PyTorch off its fused path
    assert estimate(layer, source) == fast
