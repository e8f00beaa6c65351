"""The fused Transformer encoder layer: what its explicit form dispatches, added up."""

from __future__ import annotations

from typing import Any

from torchscan.operators.attention import native_heads_macs
from torchscan.operators.extent import Args, Kwargs, at
from torchscan.operators.formula import Formula, Row
from torchscan.operators.normalization import layer_norm_flops

FAMILY = "attention"

_GELU, _RELU = 5, 1


def _macs(args: Args, kwargs: Kwargs, output: Any) -> int:
    """``(src, embed_dim, heads, qkv_w, qkv_b, proj_w, proj_b, gelu, norm_first, eps, w, b, w, b, ff1_w, ...)``."""
    source = args[0]
    rows = source.numel() // max(source.shape[-1], 1)
    feed_forward = rows * (args[14].numel() + args[16].numel())
    return native_heads_macs((source, source, source, args[1])) + feed_forward


def _flops(args: Args, kwargs: Kwargs, output: Any) -> int:
    """Products, two layer normalizations with both affine tensors, two residual adds and the activation.

    Attention's own softmax is left out, as in every fused attention kernel; biases are fused.
    """
    source, hidden = args[0], args[14].shape[0]
    count = source.numel()
    rows = count // max(source.shape[-1], 1)
    norms = 2 * layer_norm_flops(count, rows, affine=2)
    activation = (_GELU if at(args, 7) else _RELU) * rows * hidden
    return 2 * _macs(args, kwargs, output) + norms + 2 * count + activation


ROWS: dict[str, Row] = {
    "aten._transformer_encoder_layer_fwd": Formula(
        FAMILY, "products, two layer norms, two residual adds, activation", _flops, macs=_macs
    ),
}
