"""Attention kernels: the two products of the dense algorithm, causal or masked alike, as PyTorch counts them.

Scale, mask, softmax and dropout inside a fused kernel are left out, in every form of the kernel, so that the same model
gives the same number on every backend. The explicit form dispatches them as operators of their own, and they count.
"""

from __future__ import annotations

from typing import Any

from torchscan.operators.call import Call, elements, rows_over, sizes
from torchscan.operators.formula import Formula, Row

FAMILY = "attention"


def forward_macs(query: Any, key: Any, value: Any) -> int:
    """Scores: every query element meets S keys. Values: every one of B H T rows adds S rows of width D_v.

    Grouped-query attention repeats keys and values over the query's heads, so only the query's head count matters.
    """
    source, width = sizes(key)[-2], sizes(value)[-1]
    rows = rows_over(query)
    return source * (elements(query) + rows * width)


def backward_macs(query: Any, key: Any, value: Any) -> int:
    """Five products: scores again, gradients of query and key (width D) and of probabilities and values (width D_v)."""
    source, width = sizes(key)[-2], sizes(value)[-1]
    rows = rows_over(query)
    return source * (3 * elements(query) + 2 * rows * width)


def _forward(call: Call) -> int:
    """``op(query, key, value, ...)``."""
    return 2 * forward_macs(*call.args[:3])


def _backward(call: Call) -> int:
    """``op(gradient, query, key, value, ...)``."""
    return 2 * backward_macs(*call.args[1:4])


_KERNELS = (
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_fused_attention_overrideable",
)


def _native_heads(call: Call) -> int:
    """Input projection, attention and output projection of ``_native_multi_head_attention``."""
    return 2 * native_heads_macs(call.args)


def native_heads_macs(args: tuple[Any, ...]) -> int:
    """``(query, key, value, embed_dim, heads, qkv_weight, qkv_bias, proj_weight, ...)``, batch first.

    Projections: E per element of query, key, value. Scores and values: every query row meets S keys of width E, twice.
    Output projection: E per element of the query's rows.
    """
    query, key, value, width = *args[:3], int(args[3])
    rows = rows_over(query)
    projections = width * (elements(query) + elements(key) + elements(value))
    return projections + 2 * rows * sizes(key)[-2] * width + rows * width * width


def _shift_and_scale(call: Call) -> int:
    """``_transform_bias_rescale_qkv(qkv, bias, heads)``: add the bias to all three, scale the queries."""
    return elements(call.args[0]) * 4 // 3


ROWS: dict[str, Row] = {
    **{f"aten.{name}": Formula(FAMILY, "2 B H T S (D + Dv)", _forward, is_product=True) for name in _KERNELS},
    **{
        f"aten.{name}_backward": Formula(FAMILY, "2 B H T S (3 D + 2 Dv)", _backward, is_product=True)
        for name in _KERNELS
    },
    "aten._triton_scaled_dot_attention": Formula(FAMILY, "2 B H T S (D + Dv)", _forward, is_product=True),
    "aten._transform_bias_rescale_qkv": Formula(FAMILY, "4/3 N: bias, and scale of the queries", _shift_and_scale),
    "aten._native_multi_head_attention": Formula(
        FAMILY, "projections, scores, values, output projection; 2 per term", _native_heads, is_product=True
    ),
}
