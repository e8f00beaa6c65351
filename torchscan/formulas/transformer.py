"""Native encoder and decoder layers, their stacks, and Transformer, each owning the work of its subtree.

Causal attention counts dense, and a padded batch counts at its dense size, whatever path PyTorch takes.
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from torchscan.formulas.activations import RELU, gelu_operations
from torchscan.formulas.attention import (
    BOUNDARY,
    OWNED,
    Extent,
    attention_work,
    batch_and_length,
    check_attention,
    check_native,
    masks_of,
    sequence,
)
from torchscan.formulas.family import Family, nn_types
from torchscan.formulas.handler import ModuleCall, ModuleEstimates, UnsupportedCall
from torchscan.formulas.normalization import two_pass
from torchscan.formulas.operands import argument, elements, module_of
from torchscan.formulas.receptive import NOWHERE
from torchscan.formulas.work import NOTHING, Work, product

Masks = tuple[Tensor, ...]


def _feed_forward(layer: Any, values: int) -> Work:
    """Count two products with an activation between, for N values and U hidden ones: 2N + 4U + parameters DMAs."""
    check_native(layer.linear1, nn.Linear)
    check_native(layer.linear2, nn.Linear)
    hidden, width = layer.linear1.weight.shape
    inner = values // width * hidden
    parameters = elements(*layer.linear1._parameters.values(), *layer.linear2._parameters.values())
    return (
        product(inner, width, layer.linear1.bias is not None)
        + Work(flops=inner * _activation_operations(layer.activation))
        + product(values, hidden, layer.linear2.bias is not None)
        + Work(dmas=2 * values + 4 * inner + parameters)
    )


def _activation_operations(activation: Any) -> int:
    if activation in (functional.relu, torch.relu) or type(activation) is nn.ReLU:
        return RELU.operations
    if activation is functional.gelu:
        return gelu_operations("none")
    if type(activation) is nn.GELU:
        return gelu_operations(activation.approximate)
    name = getattr(activation, "__name__", type(activation).__name__)
    raise UnsupportedCall(f"the activation is {name}; the formula covers ReLU and GELU")


def _norm(module: Any, values: int) -> Work:
    check_native(module, nn.LayerNorm)
    return two_pass(values, values // prod(module.normalized_shape), module.weight, module.bias)


def _residual(values: int) -> Work:
    return Work(flops=values, dmas=3 * values)


def _check_dropouts(layer: Any, *names: str) -> None:
    for name in names:
        check_native(getattr(layer, name), nn.Dropout)


def _encoder_layer_work(layer: Any, batch: int, length: int, masks: Masks) -> Work:
    """Count self-attention, feed-forward, two norms and two residual adds."""
    check_native(layer, nn.TransformerEncoderLayer)
    _check_dropouts(layer, "dropout", "dropout1", "dropout2")
    values = batch * length * layer.self_attn.embed_dim
    return (
        attention_work(layer.self_attn, Extent(batch, length, length, masks))
        + _feed_forward(layer, values)
        + _norm(layer.norm1, values)
        + _norm(layer.norm2, values)
        + _residual(values) * 2
    )


def _decoder_layer_work(layer: Any, extent: Extent, target_masks: Masks) -> Work:
    """Count self-attention, attention over the memory, feed-forward, three norms and three residual adds."""
    check_native(layer, nn.TransformerDecoderLayer)
    _check_dropouts(layer, "dropout", "dropout1", "dropout2", "dropout3")
    batch, target = extent.batch, extent.target
    values = batch * target * layer.self_attn.embed_dim
    return (
        attention_work(layer.self_attn, Extent(batch, target, target, target_masks))
        + attention_work(layer.multihead_attn, extent)
        + _feed_forward(layer, values)
        + _norm(layer.norm1, values)
        + _norm(layer.norm2, values)
        + _norm(layer.norm3, values)
        + _residual(values) * 3
    )


def _encoder_work(stack: Any, batch: int, length: int, masks: Masks) -> Work:
    check_native(stack, nn.TransformerEncoder)
    work = NOTHING
    for layer in stack.layers:
        work += _encoder_layer_work(layer, batch, length, masks)
    return work + _final_norm(stack, batch * length)


def _decoder_work(stack: Any, extent: Extent, target_masks: Masks) -> Work:
    check_native(stack, nn.TransformerDecoder)
    work = NOTHING
    for layer in stack.layers:
        work += _decoder_layer_work(layer, extent, target_masks)
    return work + _final_norm(stack, extent.batch * extent.target)


def _final_norm(stack: Any, rows: int) -> Work:
    return NOTHING if stack.norm is None else _norm(stack.norm, rows * stack.layers[0].self_attn.embed_dim)


def _layout(stack: Any, kind: type[nn.Module]) -> bool:
    """Say whether the batch comes first. A stack has the layout of its first layer, as its own forward has."""
    if not len(stack.layers):
        raise UnsupportedCall("the stack has no layers")
    check_native(stack.layers[0], kind)
    return _layer_layout(stack.layers[0])


def _layer_layout(layer: Any) -> bool:
    check_attention(layer.self_attn)
    return bool(layer.self_attn.batch_first)


def encoder_layer(call: ModuleCall) -> ModuleEstimates:
    """Count a call of TransformerEncoderLayer."""
    module = module_of(call)
    batch, length = batch_and_length(sequence(argument(call, 0, "src"), "src"), _layer_layout(module))
    masks = masks_of(call, src_mask=1, src_key_padding_mask=2)
    return _encoder_layer_work(module, batch, length, masks).estimates(NOWHERE)


def encoder(call: ModuleCall) -> ModuleEstimates:
    """Count a call of TransformerEncoder: every layer applies the masks."""
    batch, length = batch_and_length(
        sequence(argument(call, 0, "src"), "src"), _layout(call.module, nn.TransformerEncoderLayer)
    )
    masks = masks_of(call, mask=1, src_key_padding_mask=2)
    return _encoder_work(call.module, batch, length, masks).estimates(NOWHERE)


def decoder_layer(call: ModuleCall) -> ModuleEstimates:
    """Count a call of TransformerDecoderLayer."""
    module = module_of(call)
    extent, masks = _decoding(call, _layer_layout(module))
    return _decoder_layer_work(module, extent, masks).estimates(NOWHERE)


def decoder(call: ModuleCall) -> ModuleEstimates:
    """Count a call of TransformerDecoder."""
    extent, masks = _decoding(call, _layout(call.module, nn.TransformerDecoderLayer))
    return _decoder_work(call.module, extent, masks).estimates(NOWHERE)


def _decoding(call: ModuleCall, batch_first: bool) -> tuple[Extent, Masks]:
    """Give the extent of attention over the memory, and the masks of self-attention."""
    batch, target = batch_and_length(sequence(argument(call, 0, "tgt"), "tgt"), batch_first)
    _, source = batch_and_length(sequence(argument(call, 1, "memory"), "memory"), batch_first)
    memory_masks = masks_of(call, memory_mask=3, memory_key_padding_mask=5)
    return Extent(batch, target, source, memory_masks), masks_of(call, tgt_mask=2, tgt_key_padding_mask=4)


def transformer(call: ModuleCall) -> ModuleEstimates:
    """Count a call of Transformer: its encoder over the source, its decoder over the target and the memory."""
    module = module_of(call)
    source, target = sequence(argument(call, 0, "src"), "src"), sequence(argument(call, 1, "tgt"), "tgt")
    batch, source_length = batch_and_length(source, module.batch_first)
    _, target_length = batch_and_length(target, module.batch_first)
    memory_masks = masks_of(call, memory_mask=4, memory_key_padding_mask=7)
    work = _encoder_work(
        module.encoder, batch, source_length, masks_of(call, src_mask=2, src_key_padding_mask=5)
    ) + _decoder_work(
        module.decoder,
        Extent(batch, target_length, source_length, memory_masks),
        masks_of(call, tgt_mask=3, tgt_key_padding_mask=6),
    )
    return work.estimates(NOWHERE)


def _family(name: str, estimate: Any, parts: str) -> Family:
    return Family(
        group="Attention and Transformer",
        types=nn_types(name),
        estimate=estimate,
        flops=parts,
        macs="attention + 2·N·F per feed-forward + N·(1 + has weight) per norm",
        dmas="attention + 2·N + 4·U + parameters per feed-forward + norms + 3·N per residual add",
        spatial="none: token dependencies instead",
        boundary=BOUNDARY + "; ReLU or GELU, native layers, LayerNorm",
        subtree_metrics=OWNED,
        exact=True,
        cacheable=False,
    )


FAMILIES = (
    _family("TransformerEncoderLayer", encoder_layer, "attention, feed-forward, 2 norms, 2 residual adds"),
    _family("TransformerDecoderLayer", decoder_layer, "2 attentions, feed-forward, 3 norms, 3 residual adds"),
    _family("TransformerEncoder", encoder, "all layers and the final norm"),
    _family("TransformerDecoder", decoder, "all layers and the final norm"),
    _family("Transformer", transformer, "encoder and decoder"),
)
