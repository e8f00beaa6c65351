"""The fused Transformer encoder layer: what its explicit form dispatches, added up."""

from __future__ import annotations

from torchscan.operators.attention import native_heads_macs
from torchscan.operators.call import Call, elements, rows_over, sizes
from torchscan.operators.formula import Formula, Row
from torchscan.operators.normalization import layer_norm_flops

FAMILY = "attention"

_GELU, _RELU = 5, 1


def _macs(call: Call) -> int:
    """``(src, embed_dim, heads, qkv_w, qkv_b, proj_w, proj_b, gelu, norm_first, eps, w, b, w, b, ff1_w, ...)``."""
    source = call.args[0]
    rows = rows_over(source)
    feed_forward = rows * (elements(call.args[14]) + elements(call.args[16]))
    return native_heads_macs((source, source, source, call.args[1])) + feed_forward


def _flops(call: Call) -> int:
    """Products, two layer normalizations with both affine tensors, two residual adds and the activation.

    Attention's own softmax is left out, as in every fused attention kernel; biases are fused.
    """
    source, hidden = call.args[0], sizes(call.args[14])[0]
    count = elements(source)
    rows = count // max(sizes(source)[-1], 1)
    norms = 2 * layer_norm_flops(count, rows, affine=2)
    activation = (_GELU if call.at(7) else _RELU) * rows * hidden
    return 2 * _macs(call) + norms + 2 * count + activation


ROWS: dict[str, Row] = {
    "aten._transformer_encoder_layer_fwd": Formula(
        FAMILY, "products, two layer norms, two residual adds, activation", _flops, macs=_macs
    ),
}
